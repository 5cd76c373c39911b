import type { Clock } from '../platform/clock.ts';
import { waitFor } from '../platform/wait-for.ts';
import { parseSecret } from './api-key-format.ts';
import type { ApiKey } from './api-key.ts';
import { createKeyLookUp } from './key-look-up.ts';
import type { LookUpResult } from './key-look-up.ts';
import { createKeySnapshot } from './key-snapshot.ts';
import type { KeySnapshotOptions } from './key-snapshot.ts';
import { secretCharactersMax } from './secret-limits.ts';

/**
 * All keys in memory, so that a known key costs one hash and one look-up and works while the store is down. Changes made by other processes
 * take effect within about `refreshMs`.
 */
export type KeyDirectory = {
  /** Loads the keys and keeps them fresh until `close`. A store that is down is logged and tried again; it is not an error here. */
  readonly start: () => Promise<void>;
  /** The key that a secret opens, out of memory. Undefined when it is unknown or disabled: then ask `resolve`. */
  readonly find: (secret: string) => ApiKey | undefined;
  /**
   * The same with the store behind it, for what `find` does not know. Undefined: there is no such key, or it is disabled. `unavailable`: the
   * store cannot tell at the moment, so the caller must not be told that the key is wrong. Rejects only with the signal's reason.
   */
  readonly resolve: (secret: string, signal: AbortSignal) => Promise<ApiKey | undefined | 'unavailable'>;
  /** Takes over what changed in the store now, without waiting for the next time. */
  readonly refresh: () => Promise<void>;
  readonly close: () => Promise<void>;
};

export type KeyDirectoryOptions = Pick<KeySnapshotOptions, 'store' | 'logger' | 'remembered' | 'onLoaded'> & {
  readonly clock: Clock;
  /** How often the store is asked whether keys changed. Default 1 s; the promise to operators is 5 s. */
  readonly refreshMs?: number;
  /** How long one answer of the store is waited for. Default 2 s. */
  readonly storeTimeoutMs?: number;
};

/** Calls that may wait for a refresh; one more is told `unavailable` at once. */
const waitersMax = 1000;

export function createKeyDirectory(options: KeyDirectoryOptions): KeyDirectory {
  const { refreshMs = 1000, storeTimeoutMs = 2000 } = options;
  const snapshot = createKeySnapshot({ ...options, storeTimeoutMs });
  const lookUp = createKeyLookUp({ ...options, snapshot, storeTimeoutMs });
  const refreshes = createRefreshes(refreshMs, async () => {
    await snapshot.refresh();
    lookUp.replenish();
  });
  /** A refresh asks the store three things at most; the one waited for begins after the one that runs. */
  const refreshTimeoutMs = refreshMs + 2 * 3 * storeTimeoutMs;
  let waiters = 0;

  /** Absence from memory is an answer only while memory is up to date. */
  const known = (hash: string): LookUpResult => (snapshot.healthy() ? enabled(snapshot.get(hash)) : 'unavailable');

  async function answerAfterRefresh(hash: string, signal: AbortSignal): Promise<LookUpResult> {
    if (waiters >= waitersMax) return 'unavailable';
    waiters += 1;
    try {
      await waitFor(refreshes.next(), refreshTimeoutMs, signal);
      return known(hash);
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
      return hash === undefined ? undefined : enabled(snapshot.get(hash));
    },
    resolve: async (secret, signal) => {
      signal.throwIfAborted();
      if (secret.length > secretCharactersMax) return undefined;
      const hash = snapshot.hash(secret);
      if (hash === undefined) return 'unavailable';
      const key = snapshot.get(hash);
      if (key !== undefined) return enabled(key);
      // Secrets that an operator chose have no checksum; they are in memory from the last refresh, or do not exist.
      if (!snapshot.healthy() || parseSecret('sk-weir', secret) === undefined) return known(hash);
      const found = await waitFor(lookUp.ask(hash), 2 * storeTimeoutMs, signal);
      if (found === 'exhausted') return answerAfterRefresh(hash, signal);
      return found === 'unavailable' ? found : enabled(found);
    },
    refresh: refreshes.now,
    close: refreshes.close,
  };
}

function enabled(key: ApiKey | undefined): ApiKey | undefined {
  return key?.disabledAtMs === undefined ? key : undefined;
}

type Refreshes = {
  /** Does one and begins to repeat it. */
  readonly start: () => Promise<void>;
  /** Resolves after one that has not begun yet. */
  readonly next: () => Promise<void>;
  /** Does one at once, after the one that runs. */
  readonly now: () => Promise<void>;
  readonly close: () => Promise<void>;
};

/** Runs `refresh`, which never rejects, one at a time and again `refreshMs` after it ended. */
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
    // Asking for changes is no reason for a process to stay alive.
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
