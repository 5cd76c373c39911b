import type { ProofStore } from '../../../../inference/proof-store.ts';
import type { Clock } from '../../../../platform/clock.ts';
import { waitFor } from '../../../../platform/wait-for.ts';
import type { ProofSealer } from './proof-sealer.ts';
import type { ProofVaultLimits } from './proof-vault-limits.ts';
import type { StoreHealth } from './store-health.ts';
import { decodeRecord } from './vaulted-turn.ts';
import type { VaultedRecord, VaultedTurn } from './vaulted-turn.ts';

/** A turn from the store, and how much longer it is stored. */
export type FoundTurn = { readonly turn: VaultedTurn; readonly leftMs: number };

/** Reads turns from the store. */
export type ProofReader = {
  /**
   * The turns of a user's calls by call id; the most important id comes first. Undefined if the store fails. Never
   * rejects.
   */
  readonly read: (userName: string, callIds: readonly string[]) => Promise<ReadonlyMap<string, FoundTurn> | undefined>;
};

type Records = ReadonlyMap<string, { readonly record: VaultedRecord; readonly leftMs: number }>;

export function createProofReader(options: {
  readonly store: ProofStore;
  readonly sealer: ProofSealer;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly limits: Pick<ProofVaultLimits, 'recalledBytesMax' | 'storeTimeoutMs'>;
}): ProofReader {
  const { store, sealer, health, clock, limits } = options;

  async function readRecords(userName: string, callIds: readonly string[]): Promise<Records> {
    const nowMs = clock.nowMs();
    const callIdsByLookup = new Map(callIds.map((callId) => [sealer.lookup(userName, callId), callId]));
    const query = { lookups: [...callIdsByLookup.keys()], nowMs, bytesMax: limits.recalledBytesMax };
    const records = new Map<string, { record: VaultedRecord; leftMs: number }>();
    for (const row of await waitFor(store.findProofs(query), limits.storeTimeoutMs)) {
      const callId = callIdsByLookup.get(row.lookup);
      const text = callId === undefined ? undefined : sealer.open(userName, callId, row.sealed);
      if (callId !== undefined && text !== undefined) {
        records.set(callId, { record: decodeRecord(text), leftMs: row.expiresAtMs - nowMs });
      }
    }
    return records;
  }

  async function readTurns(userName: string, callIds: readonly string[]): Promise<ReadonlyMap<string, FoundTurn>> {
    const records = await readRecords(userName, callIds);
    const elsewhere = new Set<string>();
    for (const { record } of records.values()) {
      if ('firstCallId' in record && !records.has(record.firstCallId)) elsewhere.add(record.firstCallId);
    }
    const others = elsewhere.size === 0 ? undefined : await readRecords(userName, [...elsewhere]);
    const found = new Map<string, FoundTurn>();
    for (const [callId, { record, leftMs }] of records) {
      const owner = 'turn' in record ? record : (records.get(record.firstCallId) ?? others?.get(record.firstCallId))?.record;
      // A later turn may have replaced the first call's row, and this call is not part of that turn.
      if (owner !== undefined && 'turn' in owner && owner.turn.callIds.includes(callId)) found.set(callId, { turn: owner.turn, leftMs });
    }
    return found;
  }

  return {
    read: async (userName, callIds) => {
      if (!health.mayAsk()) return undefined;
      try {
        const turns = await readTurns(userName, callIds);
        health.worked();
        return turns;
      } catch (error) {
        health.failed(error);
        return undefined;
      }
    },
  };
}
