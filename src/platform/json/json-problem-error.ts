import { toWords } from './scan-string.ts';

export type JsonProblemKind = 'syntax' | 'encoding' | 'depth' | 'tokens' | 'duplicate-key' | 'part-length' | 'incomplete';

/**
 * Why a JSON text was refused, and where. The message is meant for the sender: it quotes at most one character, or the
 * key at fault.
 */
export class JsonProblemError extends Error {
  readonly kind: JsonProblemKind;
  /** Bytes from the beginning of the text. */
  readonly offset: number;
  /** Counted from 1, by line feeds. */
  readonly line: number;
  /** Characters from the beginning of the line, counted from 1. */
  readonly column: number;
  /** The repeated key, at most 64 characters of it; only for `duplicate-key`. */
  readonly key?: string;

  constructor(kind: JsonProblemKind, bytes: Buffer, offset: number, what: string, key?: string) {
    const { line, column } = findPlace(bytes, offset);
    super(`${what} at line ${line}, column ${column}`);
    this.name = 'JsonProblemError';
    this.kind = kind;
    this.offset = offset;
    this.line = line;
    this.column = column;
    if (key !== undefined) this.key = key;
  }
}

function findPlace(bytes: Buffer, offset: number): { readonly line: number; readonly column: number } {
  const before = bytes.subarray(0, offset);
  const lineStart = before.lastIndexOf(0x0a) + 1;
  return {
    line: countBytes(before.subarray(0, lineStart), findLineFeeds) + 1,
    column: countBytes(before.subarray(lineStart), findStarts) + 1,
  };
}

/** Sets the highest bit of each byte of a word that is a line feed. */
function findLineFeeds(word: number): number {
  const others = word ^ 0x0a0a0a0a;
  return ~(((others & 0x7f7f7f7f) + 0x7f7f7f7f) | others | 0x7f7f7f7f);
}

/** The same for the first byte of each character. */
function findStarts(word: number): number {
  return ~(word & ~(word << 1)) & 0x80808080;
}

/**
 * Counts bytes, four at a time, because the error may be at the end of 32 MB and the event loop is blocked meanwhile.
 */
function countBytes(bytes: Buffer, find: (word: number) => number): number {
  const { words, shift } = toWords(bytes);
  let count = 0;
  // Only the bits 7, 15, 23 and 31 can be set, and the highest byte of the product is their sum.
  const { length } = words;
  for (let index = 0; index < length; index++) count += Math.imul(find(words[index] ?? 0) >>> 7, 0x01010101) >>> 24;
  const rest = length === 0 ? [...bytes] : [...bytes.subarray(0, shift), ...bytes.subarray(shift + length * 4)];
  for (const byte of rest) if ((find(byte | 0x8a8a8a00) & 0x80) !== 0) count++;
  return count;
}
