import type { VaultedTurn } from './vaulted-turn.ts';

/** A turn on its way to the store. */
export type WaitingTurn = {
  readonly userName: string;
  readonly turn: VaultedTurn;
  /** What sizeOfTurn says of it. */
  readonly bytes: number;
  /** Unix milliseconds. */
  readonly expiresAtMs: number;
};

/** A queue of turns, bounded by their bytes. */
export type WaitingTurns = {
  /** Adds one at the end. Returns how many of the oldest had to make room. */
  readonly add: (turn: WaitingTurn) => number;
  /** Takes from the front what makes one batch. */
  readonly take: () => readonly WaitingTurn[];
  /** Puts a batch back to the front. */
  readonly putBack: (batch: readonly WaitingTurn[]) => void;
  readonly isEmpty: () => boolean;
};

/** What is sealed in one go, which holds up the thread for some milliseconds. One turn may be larger. */
const batchRowsMax = 64;
const batchBytesMax = 1_048_576;

/** What a turn takes in memory besides its texts, roughly. */
const overheadBytes = 500;

export function createWaitingTurns(bytesMax: number): WaitingTurns {
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
