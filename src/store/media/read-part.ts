import type { FileHandle } from 'node:fs/promises';

import { type ByteRange, MediaStorageError } from '../../tasks/media/media-storage.ts';
import { fileReadLimiter } from './concurrency-limiter.ts';

const pieceBytes = 256 * 1024;

/** Whether an error means that the file does not exist. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT';
}

async function readPiece(handle: FileHandle, at: number, length: number): Promise<{ readonly piece: Buffer; readonly bytesRead: number }> {
  await fileReadLimiter.acquire();
  try {
    const piece = Buffer.allocUnsafeSlow(length);
    const { bytesRead } = await handle.read(piece, 0, length, at);
    return { piece, bytesRead };
  } finally {
    fileReadLimiter.release();
  }
}

/**
 * The bytes of an open file or of a part of it. The file is closed at the end, when the iteration is left, and when the
 * signal aborts, even if the iteration has not begun. Rejects with MediaStorageError, or with the reason of the signal.
 */
export async function readPart(handle: FileHandle, range: ByteRange | undefined, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> {
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    signal.removeEventListener('abort', abandon);
    closing ??= handle.close();
    return closing;
  };
  // The next read rejects because of the abort; failing to close a file that was only read loses nothing.
  const abandon = (): void => void close().catch(() => undefined);
  const unreadable = async (cause: unknown): Promise<never> => {
    abandon();
    signal.throwIfAborted();
    throw new MediaStorageError('unavailable', 'the media file cannot be read', { cause });
  };
  const { size } = await handle.stat().catch(unreadable);
  const end = Math.min(range?.end ?? size - 1, size - 1) + 1;
  let at = range?.start ?? 0;
  const next = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    signal.throwIfAborted();
    if (at < end && closing === undefined) {
      const { piece, bytesRead } = await readPiece(handle, at, Math.min(pieceBytes, end - at)).catch(unreadable);
      if (bytesRead === 0) return unreadable(new Error('the file has become shorter'));
      at += bytesRead;
      return { done: false, value: piece.subarray(0, bytesRead) };
    }
    await close();
    return { done: true, value: undefined };
  };
  const leave = async (): Promise<IteratorResult<Uint8Array, undefined>> => {
    await close();
    return { done: true, value: undefined };
  };
  signal.addEventListener('abort', abandon, { once: true });
  if (signal.aborted) abandon();
  return { [Symbol.asyncIterator]: () => ({ next, return: leave }) };
}
