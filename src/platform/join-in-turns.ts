import { WorkTurns } from './turn-queue.ts';

/** What is copied in one step: memory that is touched for the first time takes a millisecond or two for so much. */
const stepBytesUsual = 2 * 1024 * 1024;

/**
 * What `Buffer.concat` does, for so many bytes that it would take longer than others can wait: in steps, between which the process does its other work.
 * @param length bytes of all the pieces together
 */
export async function joinInTurns(pieces: readonly Buffer[], length: number, turns = new WorkTurns()): Promise<Buffer> {
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += stepBytesUsual) {
      at += piece.copy(joined, at, from, Math.min(from + stepBytesUsual, piece.length));
      if (turns.isOver) await turns.giveWay();
    }
  }
  return joined;
}
