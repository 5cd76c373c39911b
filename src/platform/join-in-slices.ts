import { WorkSlices } from './yield-queue.ts';

/** Bytes copied in one step. Memory that is touched for the first time takes a millisecond or two for this size. */
const stepBytesUsual = 2 * 1024 * 1024;

/**
 * Like `Buffer.concat`, for sizes that would block the event loop for too long: it copies in steps and yields between
 * them.
 * @param length total bytes of the pieces
 */
export async function joinInSlices(pieces: readonly Buffer[], length: number, slices = new WorkSlices()): Promise<Buffer> {
  const joined = Buffer.allocUnsafe(length);
  let at = 0;
  for (const piece of pieces) {
    for (let from = 0; from < piece.length; from += stepBytesUsual) {
      at += piece.copy(joined, at, from, Math.min(from + stepBytesUsual, piece.length));
      if (slices.isOver) await slices.yield();
    }
  }
  return joined;
}
