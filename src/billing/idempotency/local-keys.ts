import type { KeyName } from './idempotency-store.ts';

type LocalHolder = {
  readonly bodyHash: string;
  /** Resolves when the request has ended. */
  readonly ended: Promise<void>;
};

/**
 * The keys of running requests of this process, so that repetitions wait for each other without queries to the store.
 */
export class LocalKeys {
  readonly #holders = new Map<string, { readonly bodyHash: string } & PromiseWithResolvers<void>>();

  /** The running request with this key in this process; undefined if there is none. */
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

  /** Resolves when no request is running. */
  async allLeft(): Promise<void> {
    while (this.#holders.size > 0) await Promise.all([...this.#holders.values()].map(({ promise }) => promise));
  }
}

const spell = ({ keyId, key }: KeyName): string => `${keyId.length}:${keyId}${key}`;
