import type { Clock } from '../platform/clock.ts';
import { waitFor } from '../platform/wait-for.ts';
import { parseSecret } from './api-key-format.ts';
import { type ApiKey, type StoredApiKey, withoutHashes } from './api-key.ts';
import { createKeyLookUp } from './key-look-up.ts';
import type { LookUpResult } from './key-look-up.ts';
import { createKeySnapshot } from './key-snapshot.ts';
import type { KeySnapshotOptions } from './key-snapshot.ts';
import { secretCharactersMax } from './secret-limits.ts';

/**
 * All keys in memory: a loaded key costs one hash and one look-up, and is accepted while the store is down. Changes by
 * other processes take effect within about `refreshMs`.
 */
export type KeyDirectory = {
  /**
   * Loads the keys and refreshes them until `close`. If the store is down, that is logged and retried, and does not
   * reject.
   */
  readonly start: () => Promise<void>;
  /** The key that a secret opens, from memory. Undefined if it is unknown or disabled: then call `resolve`. */
  readonly find: (secret: string) => ApiKey | undefined;
  /**
   * As `find`, but queries the store for a secret that is not in memory. Undefined: there is no such key, or it is
   * disabled. `unavailable`: the store does not answer, so the caller must not learn that the key is wrong. Rejects
   * only with the reason of the signal.
   */
  readonly resolve: (secret: string, signal: AbortSignal) => Promise<ApiKey | undefined | 'unavailable'>;
  /** The key with this hash in memory, also a disabled one. For keys that are opened by other means than a secret. */
  readonly stored: (hash: string) => ApiKey | undefined;
  /** The number of keys in memory whose hash begins with a text. Reads all of them. */
  readonly countStored: (hashPrefix: string) => number;
  /**
   * Adds a key that `load` found or created, so that it is in memory before the next refresh. Rejects with the error of
   * `load`.
   */
  readonly learn: (load: () => Promise<StoredApiKey | undefined>) => Promise<ApiKey | undefined>;
  /** Loads changes from the store now, without waiting for the next refresh. */
  readonly refresh: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type KeyDirectoryOptions = Pick<KeySnapshotOptions, 'store' | 'logger' | 'remembered' | 'onLoaded'> & {
  readonly clock: Clock;
  /** How often the store is queried for changes. Default 1 s; the documented bound for operators is 5 s. */
  readonly refreshMs?: number;
  /** How long to wait for an answer of the store. Default 2 s. */
  readonly storeTimeoutMs?: number;
};

/** The most calls that wait for a refresh; a further one gets `unavailable` at once. */
const waitersMax = 1000;

export function createKeyDirectory(options: KeyDirectoryOptions): KeyDirectory {
  const { refreshMs = 1000, storeTimeoutMs = 2000 } = options;
  const snapshot = createKeySnapshot({ ...options, storeTimeoutMs });
  const lookUp = createKeyLookUp({ ...options, snapshot, storeTimeoutMs });
  const refreshes = createRefreshes(refreshMs, async () => {
    await snapshot.refresh();
    lookUp.replenish();
  });
  /** A refresh makes at most three queries, and the one that a call waits for begins after the one that runs. */
  const refreshTimeoutMs = refreshMs + 2 * 3 * storeTimeoutMs;
  let waiters = 0;

  /** A key that is not in memory does not exist only while memory is up to date. */
  const cached = (hash: string): LookUpResult => (snapshot.healthy() ? enabled(snapshot.get(hash)) : 'unavailable');

  async function answerAfterRefresh(hash: string, signal: AbortSignal): Promise<LookUpResult> {
    if (waiters >= waitersMax) return 'unavailable';
    waiters += 1;
    try {
      await waitFor(refreshes.next(), refreshTimeoutMs, signal);
      return cached(hash);
    } catch (error) {
      if (signal.aborted) throw error;
      return 'unavailable';
    } finally {
      waiters -= 1;
    }
  }

  return {
    start: refreshes.start,
    find: (secret) => {
      const hash = secret.length > secretCharactersMax ? undefined : snapshot.hash(secret);
      return hash === undefined ? undefined : enabled(snapshot.find(secret, hash));
    },
    resolve: async (secret, signal) => {
      signal.throwIfAborted();
      if (secret.length > secretCharactersMax) return undefined;
      const hash = snapshot.hash(secret);
      if (hash === undefined) return 'unavailable';
      const key = snapshot.find(secret, hash);
      if (key !== undefined) return enabled(key);
      // A secret that an operator chose has no checksum: it is in memory since the last refresh, or does not exist.
      if (!snapshot.healthy() || parseSecret('sk-weir', secret) === undefined) return cached(hash);
      const found = await waitFor(lookUp.ask(hash), 2 * storeTimeoutMs, signal);
      if (found === 'exhausted') return answerAfterRefresh(hash, signal);
      return found === 'unavailable' ? found : enabled(found);
    },
    stored: snapshot.get,
    countStored: snapshot.count,
    learn: async (load) => {
      const generation = snapshot.generation();
      const key = await load();
      if (key === undefined) return undefined;
      snapshot.remember(key, generation);
      return snapshot.get(key.hash) ?? withoutHashes(key);
    },
    refresh: refreshes.now,
    close: refreshes.close,
  };
}

function enabled(key: ApiKey | undefined): ApiKey | undefined {
  return key?.disabledAtMs === undefined ? key : undefined;
}

type Refreshes = {
  /** Runs a refresh and begins to repeat it. */
  readonly start: () => Promise<void>;
  /** Resolves after a refresh that has not begun yet. */
  readonly next: () => Promise<void>;
  /** Runs a refresh as soon as the running one has ended. */
  readonly now: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Runs `refresh`, which never rejects: one at a time, and again `refreshMs` after it ended. */
function createRefreshes(refreshMs: number, refresh: () => Promise<void>): Refreshes {
  let upcoming = Promise.withResolvers<void>();
  let last: Promise<void> = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  let closed = false;

  async function run(): Promise<void> {
    const current = upcoming;
    upcoming = Promise.withResolvers<void>();
    await refresh();
    current.resolve();
  }

  function now(): Promise<void> {
    last = last.then(run);
    return last;
  }

  async function repeat(): Promise<void> {
    await now();
    if (closed) return;
    // The refresh must not keep the process alive.
    timer = setTimeout(() => void repeat(), refreshMs).unref();
  }

  return {
    start: repeat,
    next: () => upcoming.promise,
    now,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      upcoming.resolve();
      await last;
    },
  };
}
