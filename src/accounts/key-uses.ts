import type { Logger } from '../platform/log.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { KeyStore } from './key-store.ts';

/** Records when keys were last used, which lists of keys show. */
export type KeyUses = {
  /** Costs the look-up of a string in a set. */
  readonly note: (keyId: string) => void;
  /** Writes what is noted, and ends. Waits for the store for a limited time. */
  readonly close: () => Promise<void>;
};

/** Uses are written this often, with the time of writing: a use is recorded with a minute's precision. */
const writeEveryMs = 60_000;
const writeTimeoutMs = 5000;
/** One write has at most so many keys, so that no other writer of the store waits long. */
const keysPerWrite = 500;

/**
 * Records the use of keys without delaying calls: a call only adds the id of its key to a set, which has at most all
 * keys. If the store cannot be written to, the set is kept for the next time; one warning is logged for an outage.
 */
export function createKeyUses(options: {
  readonly store: Pick<KeyStore, 'noteApiKeyUses'>;
  readonly clock: { readonly nowMs: () => number };
  readonly logger: Logger;
  /** Calls `work` every `everyMs` until the function that it returns is called. Default: a timer. */
  readonly repeat?: (work: () => void, everyMs: number) => () => void;
}): KeyUses {
  const { store, clock, logger, repeat = repeatByTimer } = options;
  let used = new Set<string>();
  let last: Promise<void> = Promise.resolve();
  let isReported = false;

  async function write(): Promise<void> {
    const noted = [...used];
    used = new Set();
    for (let at = 0; at < noted.length; at += keysPerWrite) {
      try {
        await waitFor(store.noteApiKeyUses(noted.slice(at, at + keysPerWrite), clock.nowMs()), writeTimeoutMs);
        isReported = false;
      } catch (error) {
        for (const keyId of noted.slice(at)) used.add(keyId);
        if (!isReported) logger.warn({ err: error }, 'recording the last use of keys failed');
        isReported = true;
        return;
      }
    }
  }

  const stop = repeat(() => {
    last = last.then(write);
  }, writeEveryMs);

  return {
    note: (keyId) => used.add(keyId),
    close: async () => {
      stop();
      await last.then(write);
    },
  };
}

function repeatByTimer(work: () => void, everyMs: number): () => void {
  const timer = setInterval(work, everyMs).unref();
  return () => clearInterval(timer);
}
