/**
 * Joins pieces of any size into parts of exactly `partBytes`; the last may be shorter. Each part has a buffer of its
 * own.
 */
export async function* gatherParts(pieces: AsyncIterable<Uint8Array>, partBytes: number): AsyncGenerator<Uint8Array, void> {
  let part: Uint8Array | undefined;
  let filled = 0;
  for await (const piece of pieces) {
    for (let at = 0; at < piece.length;) {
      part ??= new Uint8Array(partBytes);
      const slice = piece.subarray(at, at + partBytes - filled);
      part.set(slice, filled);
      filled += slice.length;
      at += slice.length;
      if (filled < partBytes) continue;
      yield part;
      part = undefined;
      filled = 0;
    }
  }
  if (part !== undefined) yield part.subarray(0, filled);
}
