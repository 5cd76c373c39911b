import type { Clock } from '../platform/clock.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { AccountsStore } from './accounts-store.ts';
import { type ApiKey, type StoredApiKey, withoutHashes } from './api-key.ts';
import type { KeySnapshot } from './key-snapshot.ts';

/**
 * The answer of the store for one hash: the key, undefined if there is none, or `unavailable` if the store does not
 * answer.
 */
export type LookUpResult = ApiKey | undefined | 'unavailable';

/** Queries the store for keys that are not in the snapshot yet. */
export type KeyLookUp = {
  /**
   * Resolves with `exhausted` if the look-ups of this period are used up: wait for the next refresh instead. Never
   * rejects.
   */
  readonly ask: (hash: string) => Promise<LookUpResult | 'exhausted'>;
  /** Starts a new period. */
  readonly replenish: () => void;
};

/** How long an unknown hash is not queried again, and how many are remembered. */
const unknownTtlMs = 1000;
const unknownHashesMax = 10_000;

/**
 * Look-ups in one period, which is the time between two refreshes. Anyone can compute the checksum of a secret, so a
 * flood of well-formed secrets must not become a flood on the store.
 */
const lookUpsMax = 50;

export function createKeyLookUp(options: {
  readonly store: AccountsStore;
  readonly clock: Clock;
  readonly snapshot: KeySnapshot;
  readonly storeTimeoutMs: number;
}): KeyLookUp {
  const { store, clock, snapshot, storeTimeoutMs } = options;
  /** Hash to the monotonic time until which it counts as unknown, oldest first. */
  const unknownUntilMs = new Map<string, number>();
  const asking = new Map<string, Promise<LookUpResult>>();
  let unknownGeneration = 0;
  let lookUps = 0;

  async function askStore(hash: string): Promise<LookUpResult> {
    const generation = snapshot.generation();
    try {
      const key = await waitFor(store.findApiKeyByHash(hash), storeTimeoutMs);
      if (key === undefined || !opens(key, hash)) {
        rememberUnknown(hash);
        return undefined;
      }
      snapshot.remember(key, generation);
      return withoutHashes(key);
    } catch {
      // Failures are reported by the refresh, which queries the same store every second.
      return 'unavailable';
    } finally {
      asking.delete(hash);
    }
  }

  const opens = (key: StoredApiKey, hash: string): boolean => key.hash === hash || clock.nowMs() < (key.previousOpensUntilMs ?? 0);

  function rememberUnknown(hash: string): void {
    const [oldest] = unknownUntilMs.keys();
    if (unknownUntilMs.size >= unknownHashesMax && oldest !== undefined) unknownUntilMs.delete(oldest);
    unknownUntilMs.set(hash, clock.monotonicMs() + unknownTtlMs);
  }

  function isKnownUnknown(hash: string): boolean {
    if (unknownGeneration !== snapshot.generation()) {
      // Keys changed: any hash that was unknown may exist now.
      unknownUntilMs.clear();
      unknownGeneration = snapshot.generation();
    }
    const untilMs = unknownUntilMs.get(hash);
    if (untilMs === undefined) return false;
    if (clock.monotonicMs() < untilMs) return true;
    unknownUntilMs.delete(hash);
    return false;
  }

  return {
    ask: async (hash) => {
      if (isKnownUnknown(hash)) return undefined;
      const running = asking.get(hash);
      if (running !== undefined) return running;
      if (lookUps >= lookUpsMax) return 'exhausted';
      lookUps += 1;
      const answer = askStore(hash);
      asking.set(hash, answer);
      return answer;
    },
    replenish: () => {
      lookUps = 0;
    },
  };
}
