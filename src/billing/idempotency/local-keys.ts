import type { KeyName } from './idempotency-store.ts';

type LocalHolder = {
  readonly bodyHash: string;
  /** Resolves when it has ended with the key. */
  readonly ended: Promise<void>;
};

/** The keys that this process holds or asks about, so that repetitions of one request wait for each other without asking the store. */
export class LocalKeys {
  readonly #holders = new Map<string, { readonly bodyHash: string } & PromiseWithResolvers<void>>();

  /** Who has the key in this process; undefined when nobody has. */
  holder(name: KeyName): LocalHolder | undefined {
    const holder = this.#holders.get(spell(name));
    return holder === undefined ? undefined : { bodyHash: holder.bodyHash, ended: holder.promise };
  }

  take(name: KeyName, bodyHash: string): void {
    this.#holders.set(spell(name), { bodyHash, ...Promise.withResolvers<void>() });
  }

  leave(name: KeyName): void {
    const id = spell(name);
    const holder = this.#holders.get(id);
    this.#holders.delete(id);
    holder?.resolve();
  }

  /** Resolves when none is held any more. */
  async allLeft(): Promise<void> {
    while (this.#holders.size > 0) await Promise.all([...this.#holders.values()].map(({ promise }) => promise));
  }
}

const spell = ({ keyId, key }: KeyName): string => `${keyId.length}:${keyId}${key}`;
