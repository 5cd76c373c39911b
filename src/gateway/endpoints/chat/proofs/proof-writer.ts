import type { ProofStore, SealedProof } from '../../../../inference/proof-store.ts';
import type { Clock } from '../../../../platform/clock.ts';
import type { Logger } from '../../../../platform/log.ts';
import type { ProofSealer } from './proof-sealer.ts';
import type { ProofVaultLimits } from './proof-vault-limits.ts';
import type { StoreHealth } from './store-health.ts';
import { type VaultedTurn, encodeRecord } from './vaulted-turn.ts';

/** Writes turns asynchronously, one batch at a time, and again after a failure. */
export type ProofWriter = {
  /** Only adds to a queue. Never throws. */
  readonly add: (turn: Omit<WaitingTurn, 'expiresAtMs'>) => void;
  /** Writes the waiting turns now. Never rejects. */
  readonly flush: () => Promise<void>;
  /** Attempts once more to write everything, and stops. Never rejects. */
  readonly close: () => Promise<void>;
};

export function createProofWriter(options: {
  readonly store: ProofStore;
  readonly sealer: ProofSealer;
  readonly health: StoreHealth;
  readonly clock: Clock;
  readonly logger: Logger;
  readonly limits: Pick<ProofVaultLimits, 'keptMs' | 'queueBytesMax' | 'writeDelayMs' | 'retryMs'>;
}): ProofWriter {
  const { store, sealer, health, clock, logger, limits } = options;
  const waiting = createPendingProofs(limits.queueBytesMax);
  let overflowing = false;
  let timer: NodeJS.Timeout | undefined;
  let running: Promise<void> | undefined;
  let closed = false;

  function schedule(delayMs: number): void {
    if (timer !== undefined || running !== undefined || closed) return;
    // The timer must not keep the process alive: a crash could lose these turns at any moment anyway.
    timer = setTimeout(() => {
      timer = undefined;
      void run();
    }, delayMs).unref();
  }

  function run(): Promise<void> {
    running ??= writeAll().then((written) => {
      running = undefined;
      if (!waiting.isEmpty()) schedule(written ? limits.writeDelayMs : limits.retryMs);
    });
    return running;
  }

  /** False if the store failed; the turns then continue to wait. */
  async function writeAll(): Promise<boolean> {
    while (!waiting.isEmpty()) {
      const batch = waiting.take();
      try {
        await store.putProofs(batch.flatMap((turn) => sealTurn(sealer, turn)));
        health.worked();
      } catch (error) {
        health.failed(error);
        waiting.putBack(batch);
        return false;
      }
    }
    overflowing = false;
    return true;
  }

  return {
    add: (turn) => {
      if (closed) return;
      const dropped = waiting.add({ ...turn, expiresAtMs: clock.nowMs() + limits.keptMs });
      if (dropped > 0 && !overflowing) {
        logger.error({ bytesMax: limits.queueBytesMax }, 'reasoning proofs discarded because of a full queue');
      }
      overflowing ||= dropped > 0;
      schedule(limits.writeDelayMs);
    },
    flush: run,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
      await run();
    },
  };
}

function sealTurn(sealer: ProofSealer, { userName, turn, expiresAtMs }: WaitingTurn): readonly SealedProof[] {
  const [firstCallId] = turn.callIds;
  return turn.callIds.map((callId) => {
    const text = encodeRecord(firstCallId === undefined || callId === firstCallId ? { turn } : { firstCallId });
    return { lookup: sealer.lookup(userName, callId), sealed: sealer.seal(userName, callId, text), expiresAtMs };
  });
}

/** A turn on its way to the store. */
type WaitingTurn = {
  readonly userName: string;
  readonly turn: VaultedTurn;
  /** The result of sizeOfTurn. */
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
};

/** A queue of turns, bounded by their bytes. */
type PendingProofs = {
  /** Adds a turn at the end. Returns how many of the oldest were dropped for it. */
  readonly add: (turn: WaitingTurn) => number;
  /** Takes one batch from the front. */
  readonly take: () => readonly WaitingTurn[];
  /** Puts a batch back to the front. */
  readonly putBack: (batch: readonly WaitingTurn[]) => void;
  readonly isEmpty: () => boolean;
};

/** The most that is sealed in one go, which blocks the thread for a few milliseconds. A single turn may be larger. */
const batchRowsMax = 64;
const batchBytesMax = 1_048_576;

/** The approximate size of a turn in memory besides its texts. */
const overheadBytes = 500;

function createPendingProofs(bytesMax: number): PendingProofs {
  let waiting = new Set<WaitingTurn>();
  let bytes = 0;

  function remove(turn: WaitingTurn): void {
    waiting.delete(turn);
    bytes -= turn.bytes + overheadBytes;
  }

  return {
    add: (turn) => {
      waiting.add(turn);
      bytes += turn.bytes + overheadBytes;
      let dropped = 0;
      for (const oldest of waiting) {
        if (bytes <= bytesMax) break;
        remove(oldest);
        dropped += 1;
      }
      return dropped;
    },
    take: () => {
      const batch: WaitingTurn[] = [];
      let rows = 0;
      let batchBytes = 0;
      for (const turn of waiting) {
        rows += turn.turn.callIds.length;
        batchBytes += turn.bytes;
        if (batch.length > 0 && (rows > batchRowsMax || batchBytes > batchBytesMax)) break;
        batch.push(turn);
      }
      for (const turn of batch) remove(turn);
      return batch;
    },
    putBack: (batch) => {
      waiting = new Set([...batch, ...waiting]);
      for (const turn of batch) bytes += turn.bytes + overheadBytes;
    },
    isEmpty: () => waiting.size === 0,
  };
}
