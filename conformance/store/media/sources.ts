import { createHash } from 'node:crypto';

/** Bytes that depend on their position: a range that is off by a byte differs. */
export function bytesAt(start: number, length: number, seed = 0): Buffer {
  const bytes = Buffer.alloc(length);
  for (let index = 0; index < length; index += 1) {
    const at = start + index;
    bytes[index] = (at ^ (at >>> 8) ^ (at >>> 16) ^ seed) & 0xff;
  }
  return bytes;
}

/** A source of a file of `length` such bytes, in pieces. */
export async function* source(
  length: number,
  options: { readonly pieceBytes?: number; readonly seed?: number } = {},
): AsyncGenerator<Buffer> {
  const { pieceBytes = 60_000, seed = 0 } = options;
  for (let at = 0; at < length; at += pieceBytes) yield bytesAt(at, Math.min(pieceBytes, length - at), seed);
}

export function sha256(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex');
}

/** All values of an iteration; undefined for undefined. */
export async function collect(content: AsyncIterable<Uint8Array> | undefined): Promise<Buffer | undefined> {
  if (content === undefined) return undefined;
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return Buffer.concat(pieces);
}
