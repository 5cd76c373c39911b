const LF = 0x0a;
const CR = 0x0d;

/** Bytes of a line that are read one by one. A native search costs more for short lines. */
const shortLineBytes = 64;

/**
 * The position of the first CR or LF from `start` on; the length of `bytes` if there is none. Each native search covers
 * as many bytes as those before it, so that a long line needs few of them and no line is searched far beyond its end.
 */
export function findLineEnd(bytes: Buffer, start: number): number {
  const { length } = bytes;
  const searchFrom = Math.min(start + shortLineBytes, length);
  for (let at = start; at < searchFrom; at++) {
    const byte = bytes[at];
    if (byte === LF || byte === CR) return at;
  }
  for (let at = searchFrom, end; at < length; at = end) {
    end = Math.min(at + (at - start), length);
    const window = bytes.subarray(at, end);
    const lf = window.indexOf(LF);
    const cr = (lf === -1 ? window : window.subarray(0, lf)).indexOf(CR);
    if (cr !== -1) return at + cr;
    if (lf !== -1) return at + lf;
  }
  return length;
}
