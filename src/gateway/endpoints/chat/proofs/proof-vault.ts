import type { ProofStore } from '../../../../inference/proof-store.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/log.ts';
import { waitFor } from '../../../../platform/wait-for.ts';
import { defaultProofVaultLimits } from './proof-vault-limits.ts';
import type { ProofVaultLimits } from './proof-vault-limits.ts';
import { createProofReader } from './proof-reader.ts';
import type { FoundTurn } from './proof-reader.ts';
import { createProofSealer } from './proof-sealer.ts';
import { createProofWriter } from './proof-writer.ts';
import { createStoreHealth } from './store-health.ts';
import type { StoreHealth } from './store-health.ts';
import { createTurnMemory } from './turn-memory.ts';
import { hasProof, sizeOfTurn } from './vaulted-turn.ts';
import type { VaultedTurn } from './vaulted-turn.ts';

/**
 * Stores the reasoning proofs of assistant turns with tool calls, so that a vendor gets back exactly what it made even
 * if the client drops unknown fields. A turn belongs to the user whose call made it, and only that user can recall it.
 */
export type ProofVault = {
  /**
   * Keeps a turn that has a proof: in memory now, in the store soon. A later turn with the same call id replaces it.
   * Never throws.
   */
  readonly remember: (userName: string, turn: VaultedTurn) => void;
  /**
   * The kept turns by call id, from memory or the store; ids without a turn are missing. Of a longer list only the last
   * `recalledIdsMax` ids are queried. Never rejects: while the store does not answer, only turns in memory are found.
   */
  readonly recall: (userName: string, callIds: readonly string[]) => Promise<ReadonlyMap<string, VaultedTurn>>;
  /** Writes the turns that wait for the store now, for another process that reads them there. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Writes the turns that still wait, within `closeTimeoutMs`, and stops. */
  readonly close: () => Promise<void>;
};

export type ProofVaultOptions = {
  readonly store: ProofStore;
  /** 32 random bytes (see loadProofKey). Turns that were sealed with another key are not found. */
  readonly key: Uint8Array;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits?: Partial<ProofVaultLimits>;
};

/** Opens a vault. It holds two unreferenced timers until `close`. */
export function createProofVault(options: ProofVaultOptions): ProofVault {
  const { store, clock, logger } = options;
  const limits = { ...defaultProofVaultLimits, ...options.limits };
  const sealer = createProofSealer(options.key);
  const memory = createTurnMemory({ bytesMax: limits.memoryBytesMax, clock });
  const health = createStoreHealth({ clock, logger, retryMs: limits.retryMs });
  const writer = createProofWriter({ store, sealer, health, clock, logger, limits });
  const reader = createProofReader({ store, sealer, health, clock, limits });
  const stopSweeping = startSweeping({ store, health, clock, limits });

  function keep(userName: string, turn: VaultedTurn): void {
    const bytes = sizeOfTurn(turn);
    if (bytes > limits.turnBytesMax) {
      logger.warn({ bytes, bytesMax: limits.turnBytesMax }, 'reasoning proofs discarded because of their size');
      return;
    }
    memory.put(userName, turn.callIds, turn, limits.keptMs);
    writer.add({ userName, turn, bytes });
  }

  /** Turns of an active conversation are kept: a turn past half of its time starts again. */
  function renew(userName: string, { turn, leftMs }: FoundTurn): void {
    if (leftMs < limits.keptMs / 2) keep(userName, turn);
  }

  /** Looks up every id in memory. `unknown` are the ids about which memory has no information. */
  function lookUp(userName: string, callIds: readonly string[]) {
    const found = new Map<string, VaultedTurn>();
    const unknown: string[] = [];
    for (const callId of new Set(callIds.slice(-limits.recalledIdsMax))) {
      const held = memory.get(userName, callId);
      if (held === undefined) unknown.push(callId);
      else if (held.turn !== undefined) {
        found.set(callId, held.turn);
        renew(userName, { turn: held.turn, leftMs: held.leftMs });
      }
    }
    return { found, unknown };
  }

  async function recall(userName: string, callIds: readonly string[]): Promise<ReadonlyMap<string, VaultedTurn>> {
    const { found, unknown } = lookUp(userName, callIds);
    if (unknown.length === 0) return found;
    const read = await reader.read(userName, unknown.toReversed());
    if (read === undefined) return found;
    for (const callId of unknown) {
      const stored = read.get(callId);
      // A turn that was remembered during the query is newer than its answer.
      const held = memory.get(userName, callId);
      const turn = held === undefined ? stored?.turn : held.turn;
      if (turn !== undefined) found.set(callId, turn);
      if (held === undefined) memory.put(userName, [callId], turn, stored?.leftMs ?? limits.absentMs);
      if (held === undefined && stored !== undefined) renew(userName, stored);
    }
    return found;
  }

  return {
    remember: (userName, turn) => {
      if (turn.callIds.length === 0) return;
      if (hasProof(turn)) keep(userName, turn);
      else memory.put(userName, turn.callIds, undefined, limits.keptMs);
    },
    recall,
    flush: writer.flush,
    close: async () => {
      stopSweeping();
      await waitFor(writer.close(), limits.closeTimeoutMs).catch((error: unknown) => {
        logger.warn({ err: error }, 'writing reasoning proofs at shutdown failed');
      });
    },
  };
}

/** Deletes expired turns in the store at intervals, in small steps. Returns a function that stops it. */
function startSweeping(options: {
  readonly store: ProofStore;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly limits: Pick<ProofVaultLimits, 'storeBytesMax' | 'sweepMs'>;
}): () => void {
  const { store, health, clock, limits } = options;
  const rowsMax = 500;
  let sweeping = false;
  let ended = false;
  const sweep = async (): Promise<void> => {
    if (sweeping || !health.mayAsk()) return;
    sweeping = true;
    try {
      let deleted = rowsMax;
      while (deleted >= rowsMax && !ended) {
        deleted = await store.sweepProofs({ nowMs: clock.nowMs(), bytesMax: limits.storeBytesMax, rowsMax });
      }
    } catch (error) {
      health.failed(error);
    } finally {
      sweeping = false;
    }
  };
  const timer = setInterval(() => void sweep(), limits.sweepMs).unref();
  return () => {
    ended = true;
    clearInterval(timer);
  };
}
