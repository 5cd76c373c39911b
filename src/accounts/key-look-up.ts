import type { Clock } from '../platform/clock.ts';
import { waitFor } from '../platform/wait-for.ts';
import type { AccountsStore } from './accounts-store.ts';
import type { ApiKey } from './api-key.ts';
import type { KeySnapshot } from './key-snapshot.ts';

/** What the store says of one hash: no such key, or that it does not answer. */
export type LookUpResult = ApiKey | undefined | 'unavailable';

/** Asks the store for keys that are not in the snapshot yet. */
export type KeyLookUp = {
  /** `exhausted` when the look-ups of this period are used up: wait for the next refresh instead. Never rejects. */
  readonly ask: (hash: string) => Promise<LookUpResult | 'exhausted'>;
  /** Starts a new period. */
  readonly replenish: () => void;
};

/** How long a hash that the store does not know is not asked for again, and how many such are remembered. */
const unknownTtlMs = 1000;
const unknownHashesMax = 10_000;

/**
 * Look-ups in one period, which is the time between two refreshes. Anyone can compute the checksum of a secret, so a flood of well-formed
 * secrets must not become a flood on the store.
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
      if (key === undefined) {
        rememberUnknown(hash);
        return undefined;
      }
      snapshot.remember(key, generation);
      const { hash: _hash, ...found } = key;
      return found;
    } catch {
      // The refresh, which asks the same store every second, is what reports its failures.
      return 'unavailable';
    } finally {
      asking.delete(hash);
    }
  }

  function rememberUnknown(hash: string): void {
    const [oldest] = unknownUntilMs.keys();
    if (unknownUntilMs.size >= unknownHashesMax && oldest !== undefined) unknownUntilMs.delete(oldest);
    unknownUntilMs.set(hash, clock.monotonicMs() + unknownTtlMs);
  }

  function isKnownUnknown(hash: string): boolean {
    if (unknownGeneration !== snapshot.generation()) {
      // Keys changed: any of the unknown may exist now.
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
      const asked = askStore(hash);
      asking.set(hash, asked);
      return asked;
    },
    replenish: () => {
      lookUps = 0;
    },
  };
}
