import { hash } from 'node:crypto';

/** Draws that depend only on the seed text. Not for secrets. */
export type SeededRandom = {
  /** A number from 0 (inclusive) to 1 (exclusive). */
  readonly fraction: () => number;
  /** A whole number from 0 (inclusive) to `count` (exclusive). */
  readonly below: (count: number) => number;
};

/** Makes a generator whose whole sequence is determined by `text`: SHA-256 of the text seeds Mulberry32. */
export function createSeededRandom(text: string): SeededRandom {
  let state = Number.parseInt(hash('sha256', text, 'hex').slice(0, 8), 16);
  const fraction = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };
  return { fraction, below: (count) => Math.floor(fraction() * count) };
}

const idAlphabet = '123456789ABCDEFGHJKLMNPQRSTUVWXYZabcdefghijkmnopqrstuvwxyz';

/** An id part of 24 letters and digits, the same for the same text: it looks like the vendors' own ids. */
export function deriveId(text: string): string {
  const bytes = hash('sha256', text, 'buffer');
  let id = '';
  for (let index = 0; index < 24; index++) id += idAlphabet.charAt((bytes[index] ?? 0) % idAlphabet.length);
  return id;
}
