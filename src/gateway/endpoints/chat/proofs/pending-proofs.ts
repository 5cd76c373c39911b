import type { VaultedTurn } from './vaulted-turn.ts';

/** A turn on its way to the store. */
export type WaitingTurn = {
  readonly userName: string;
  readonly turn: VaultedTurn;
  /** The result of sizeOfTurn. */
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
};

/** A queue of turns, bounded by their bytes. */
export type PendingProofs = {
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

export function createPendingProofs(bytesMax: number): PendingProofs {
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
