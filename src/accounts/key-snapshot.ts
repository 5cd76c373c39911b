import type { Clock } from '../platform/clock.ts';
import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { AccountsStore } from './accounts-store.ts';
import { type ApiKey, type StoredApiKey, withoutHashes } from './api-key.ts';
import { parseSecret } from './api-key-format.ts';
import { hashDigest, hashSecret, sha256 } from './hash-secret.ts';

/** All keys that are not deleted, as the store had them at the last successful refresh. Disabled keys are included. */
export type KeySnapshot = {
  /** The hash that a secret is stored under; undefined before the first load. */
  readonly hash: (secret: string) => string | undefined;
  /**
   * The key in memory that a secret opens now, given also its hash. A secret that was not generated here may open a key
   * that was imported with the digest of its secret.
   */
  readonly find: (secret: string, hash: string) => ApiKey | undefined;
  /** The key that a hash opens now: that of its present secret, or of its previous one until that ends. */
  readonly get: (hash: string) => ApiKey | undefined;
  /**
   * Loads all keys if the store reports a change. A failure is logged, keeps the loaded keys and makes `healthy` false.
   */
  readonly refresh: () => Promise<void>;
  /** Whether the last refresh succeeded. Only then does a missing hash mean that there is no such key. */
  readonly healthy: () => boolean;
  /** The number of keys whose hash begins with a text. */
  readonly count: (hashPrefix: string) => number;
  /** The number of loads. */
  readonly generation: () => number;
  /**
   * Adds a key from a separate look-up, unless keys were loaded since `generation`: the key may have been deleted in
   * between, and nothing would remove it again.
   */
  readonly remember: (key: StoredApiKey, generation: number) => void;
};

/** Everything that is needed to check keys without the store. */
export type KeyMemory = { readonly pepper: string; readonly keys: readonly StoredApiKey[] };

export type KeySnapshotOptions = {
  readonly store: AccountsStore;
  readonly logger: Logger;
  readonly clock: Pick<Clock, 'nowMs'>;
  readonly storeTimeoutMs: number;
  /** Keys of an earlier process. They are used until the store has answered for the first time. */
  readonly remembered?: KeyMemory;
  /** Called with the keys after each load. */
  readonly onLoaded?: (memory: KeyMemory) => void;
};

/** The keys of one question: neither calls nor the store wait for long where there are very many. */
const keysAtOnce = 1000;

export function createKeySnapshot(options: KeySnapshotOptions): KeySnapshot {
  const { store, clock, logger, storeTimeoutMs, remembered } = options;
  let pepper = remembered?.pepper;
  let isPepperConfirmed = false;
  let keys = new Map<string, ApiKey>(remembered?.keys.map(withHashApart));
  let previous = new Map<string, ApiKey>(remembered?.keys.flatMap(withPreviousHashApart));
  let version: number | undefined;
  let generation = 0;
  let healthy: boolean | undefined;

  async function load(): Promise<void> {
    const currentPepper = pepper !== undefined && isPepperConfirmed ? pepper : await waitFor(store.pepper(), storeTimeoutMs);
    // Read before the keys: a change in between shows as another version at the next refresh.
    const currentVersion = await waitFor(store.keysVersion(), storeTimeoutMs);
    if (currentVersion === version) return;
    const stored: StoredApiKey[] = [];
    const [present, former] = [new Map<string, ApiKey>(), new Map<string, ApiKey>()];
    for (let isLast = false; !isLast;) {
      const page = await waitFor(store.listApiKeys({ after: stored.at(-1), limit: keysAtOnce }), storeTimeoutMs);
      stored.push(...page);
      for (const key of page) present.set(...withHashApart(key));
      for (const key of page) for (const entry of withPreviousHashApart(key)) former.set(...entry);
      isLast = page.length < keysAtOnce;
    }
    pepper = currentPepper;
    isPepperConfirmed = true;
    keys = present;
    previous = former;
    version = currentVersion;
    generation += 1;
    options.onLoaded?.({ pepper, keys: stored });
  }

  const get = (hash: string): ApiKey | undefined => keys.get(hash) ?? opened(previous.get(hash), clock.nowMs());

  return {
    hash: (secret) => (pepper === undefined ? undefined : hashSecret(pepper, secret)),
    find: (secret, hash) => {
      const key = get(hash);
      if (key !== undefined || pepper === undefined || parseSecret('sk-weir', secret) !== undefined) return key;
      return get(hashDigest(pepper, sha256(secret)));
    },
    get,
    refresh: async () => {
      try {
        await load();
        if (healthy === false) logger.info({ keyCount: keys.size }, 'key snapshot refreshed after a store failure');
        healthy = true;
      } catch (error) {
        if (healthy !== false) logger.error({ err: error, keyCount: keys.size }, 'key snapshot refresh failed');
        healthy = false;
      }
    },
    healthy: () => healthy === true,
    count: (hashPrefix) => keys.keys().reduce((sum, hash) => (hash.startsWith(hashPrefix) ? sum + 1 : sum), 0),
    generation: () => generation,
    remember: (key, asOf) => {
      if (asOf !== generation) return;
      keys.set(...withHashApart(key));
      for (const entry of withPreviousHashApart(key)) previous.set(...entry);
    },
  };
}

function withHashApart(stored: StoredApiKey): [string, ApiKey] {
  return [stored.hash, withoutHashes(stored)];
}

function withPreviousHashApart(stored: StoredApiKey): [string, ApiKey][] {
  return stored.previousHash === undefined ? [] : [[stored.previousHash, withoutHashes(stored)]];
}

/** The key of a previous secret, unless that has ended. */
function opened(key: ApiKey | undefined, nowMs: number): ApiKey | undefined {
  return key !== undefined && nowMs < (key.previousOpensUntilMs ?? 0) ? key : undefined;
}
