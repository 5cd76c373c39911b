/**
 * Converts between positions in one text: UTF-8 bytes, as this dialect counts, and code points, as the neutral form
 * does.
 */
export type TextOffsets = {
  readonly bytes: number;
  readonly codePoints: number;
  /** The code point that begins at or after a byte; the end for offsets beyond it. */
  readonly toCodePoint: (byte: number) => number;
  /** The byte at which a code point begins; the end for offsets beyond it. */
  readonly toByte: (codePoint: number) => number;
  /** The text from one code point up to another. */
  readonly slice: (start: number, end: number) => string;
};

/** Prepares the conversion with one pass over the text, unless it is all ASCII. */
export function createTextOffsets(text: string): TextOffsets {
  const bytes = Buffer.byteLength(text);
  const clamp = (offset: number): number => Math.min(Math.max(offset, 0), bytes);
  // If the numbers are equal, every character is one byte.
  if (bytes === text.length) {
    return { bytes, codePoints: bytes, toCodePoint: clamp, toByte: clamp, slice: (start, end) => text.slice(clamp(start), clamp(end)) };
  }
  const characters = Array.from(text);
  const byteStarts = new Uint32Array(characters.length + 1);
  const pointAtByte = new Uint32Array(bytes + 1);
  let byte = 0;
  for (const [index, character] of characters.entries()) {
    byteStarts[index] = byte;
    pointAtByte[byte] = index;
    const next = byte + Buffer.byteLength(character);
    // An offset within a character moves to its end.
    pointAtByte.fill(index + 1, byte + 1, next);
    byte = next;
  }
  byteStarts[characters.length] = bytes;
  pointAtByte[bytes] = characters.length;
  return {
    bytes,
    codePoints: characters.length,
    toCodePoint: (offset) => pointAtByte[clamp(offset)] ?? characters.length,
    toByte: (offset) => byteStarts[Math.min(Math.max(offset, 0), characters.length)] ?? bytes,
    slice: (start, end) => characters.slice(start, end).join(''),
  };
}
