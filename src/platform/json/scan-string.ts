const QUOTE = 0x22;
const BACKSLASH = 0x5c;
// The first bytes of a string are looked at one by one; setting up for whole words pays off only after that.
const NEAR_BYTES = 40;
// Beyond this many more bytes without a quote or an escape, native search pays off.
const NEAR_WORD_BYTES = 512;
const HIGH_BITS = 0x80808080;

// 1 at the bytes that may follow a backslash alone: '"', '\', '/', 'b', 'f', 'n', 'r' and 't'.
const SIMPLE_ESCAPES = new Uint8Array(256);
for (const byte of [0x22, 0x5c, 0x2f, 0x62, 0x66, 0x6e, 0x72, 0x74]) SIMPLE_ESCAPES[byte] = 1;

/** `StringScanner.scan` returns this instead of a position if the string contains an invalid byte. */
export const INVALID = -2;
/** `StringScanner.scan` returns this if the string continues beyond `end`. */
export const PAUSED = -3;
const UNTERMINATED = -1;

/**
 * Checks JSON strings in one text. Long parts without quotes and escapes cost about a quarter of a nanosecond per byte.
 */
export class StringScanner {
  /** After a scan: whether the string had escapes. */
  hasEscapes = false;
  /** After a scan that returned INVALID: the byte at fault. */
  invalidAt = 0;
  /** After a scan that returned PAUSED: where the next scan continues. */
  pausedAt = 0;
  readonly #bytes: Buffer;
  #view: AlignedWords | undefined;
  #nextQuote = -1;
  #nextBackslash = -1;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /**
   * Scans from the position after the opening quote, or from a pause. Returns the position of the closing quote,
   * UNTERMINATED, INVALID, or PAUSED if the string continues at `end`.
   */
  scan(start: number, end: number): number {
    const bytes = this.#bytes;
    this.hasEscapes = false;
    let near = start + NEAR_BYTES;
    let at = start;
    for (; at < end; at++) {
      const byte = bytes[at] ?? 0;
      if (byte === QUOTE) return at;
      if (byte === BACKSLASH) {
        this.hasEscapes = true;
        at = this.#passEscape(at);
        if (at < 0) return at;
      } else if (byte < 0x20) {
        this.invalidAt = at;
        return INVALID;
      } else if (at >= near) {
        // The loop continues with the word that contains the next relevant byte.
        at = this.#passPlain(at + 1) - 1;
        near = at + 8;
      }
    }
    if (at >= bytes.length) return UNTERMINATED;
    this.pausedAt = at;
    return PAUSED;
  }

  /**
   * A position at or after `position` that has nothing but plain characters before it, close to the first other byte.
   */
  #passPlain(position: number): number {
    const nearEnd = position + NEAR_WORD_BYTES;
    const at = this.#passPlainWords(position, nearEnd);
    if (at < nearEnd) return at;
    // Quotes and backslashes are found fastest by native search. The results are kept, so that no byte is searched
    // twice.
    if (this.#nextQuote < at) this.#nextQuote = this.#find(QUOTE, at);
    if (this.#nextBackslash < at) this.#nextBackslash = this.#find(BACKSLASH, at);
    return this.#passWordsWithoutControls(at, Math.min(this.#nextQuote, this.#nextBackslash));
  }

  #find(byte: number, from: number): number {
    const found = this.#bytes.indexOf(byte, from);
    return found === -1 ? this.#bytes.length : found;
  }

  /**
   * Begins with the word that `position` lies in, and stops at a word that holds a quote, a backslash or a control
   * byte, at the latest near `end`.
   */
  #passPlainWords(position: number, end: number): number {
    const { words, shift } = (this.#view ??= toWords(this.#bytes));
    if (position < shift) return position;
    let index = (position - shift) >> 2;
    const last = Math.min(words.length, (end - shift + 3) >> 2);
    // Subtracting n from each byte sets its highest bit where it was less than n. Bytes above 0x7f are left out by `~`,
    // and a borrow from the byte below can only report a word that has something to report anyway.
    for (; index < last; index++) {
      const word = words[index] ?? 0;
      const quote = word ^ 0x22222222;
      const slash = word ^ 0x5c5c5c5c;
      const found = ((word - 0x20202020) & ~word) | ((quote - 0x01010101) & ~quote) | ((slash - 0x01010101) & ~slash);
      if ((found & HIGH_BITS) !== 0) break;
    }
    return Math.max(position, shift + index * 4);
  }

  /** Stops at most 16 bytes before the first control byte, or before `end`. */
  #passWordsWithoutControls(position: number, end: number): number {
    const { words, shift } = (this.#view ??= toWords(this.#bytes));
    let index = (position - shift) >> 2;
    const last = Math.min(words.length, (end - shift) >> 2) - 3;
    for (; index < last; index += 4) {
      const first = words[index] ?? 0;
      const second = words[index + 1] ?? 0;
      const third = words[index + 2] ?? 0;
      const fourth = words[index + 3] ?? 0;
      const found =
        ((first - 0x20202020) & ~first) |
        ((second - 0x20202020) & ~second) |
        ((third - 0x20202020) & ~third) |
        ((fourth - 0x20202020) & ~fourth);
      if ((found & HIGH_BITS) !== 0) break;
    }
    return Math.max(position, shift + index * 4);
  }

  #passEscape(at: number): number {
    const bytes = this.#bytes;
    const escape = bytes[at + 1];
    if (escape === undefined) return UNTERMINATED;
    if (SIMPLE_ESCAPES[escape] === 1) return at + 1;
    this.invalidAt = at;
    if (escape !== 0x75) return INVALID;
    for (let index = at + 2; index < at + 6; index++) {
      const digit = bytes[index];
      if (digit === undefined) return UNTERMINATED;
      if (!isHexDigit(digit)) return INVALID;
    }
    return at + 5;
  }
}

/** The first word begins `shift` bytes after the first byte. */
type AlignedWords = { readonly words: Int32Array; readonly shift: number };

/** The bytes as whole words, without copying. */
export function toWords(bytes: Buffer): AlignedWords {
  const shift = (4 - (bytes.byteOffset & 3)) & 3;
  // A word may begin only behind a text of few bytes, where its memory may end.
  if (bytes.length < shift) return { words: new Int32Array(0), shift };
  return { words: new Int32Array(bytes.buffer, bytes.byteOffset + shift, (bytes.length - shift) >> 2), shift };
}

function isHexDigit(byte: number): boolean {
  return (byte >= 0x30 && byte <= 0x39) || (byte >= 0x41 && byte <= 0x46) || (byte >= 0x61 && byte <= 0x66);
}
