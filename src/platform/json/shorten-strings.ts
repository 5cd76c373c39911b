const QUOTE = 0x22;
const BACKSLASH = 0x5c;
/** The longest escape and one byte. */
const escapeBytesMax = 8;

/**
 * Shortens the long strings of a JSON text that arrives in pieces, so that a document with a file in it can be read as
 * a small one. All other bytes stay.
 * @param keptBytes how much of a string stays
 */
export async function* shortenStrings(content: AsyncIterable<Buffer>, keptBytes: number): AsyncGenerator<Buffer, undefined> {
  const shortener = new StringShortener(keptBytes);
  for await (const piece of content) {
    const left = shortener.take(piece);
    if (left.length > 0) yield left;
  }
  return undefined;
}

class StringShortener {
  readonly #keptBytes: number;
  #isInside = false;
  #isEscaped = false;
  /** Bytes of the present string that stay; all further ones go once it is cut. */
  #kept = 0;
  #isCut = false;

  constructor(keptBytes: number) {
    this.#keptBytes = keptBytes;
  }

  take(piece: Buffer): Buffer {
    const parts: Buffer[] = [];
    // Searched for again only when it is behind: a string of many escapes takes no more time than its length.
    let backslash = piece.indexOf(BACKSLASH);
    let quote = piece.indexOf(QUOTE);
    let at = 0;
    while (at < piece.length) {
      if (quote >= 0 && quote < at) quote = piece.indexOf(QUOTE, at);
      if (!this.#isInside) {
        const end = quote < 0 ? piece.length : quote + 1;
        parts.push(piece.subarray(at, end));
        at = end;
        this.#isInside = quote >= 0;
        [this.#kept, this.#isCut] = [0, false];
        continue;
      }
      if (this.#isEscaped) {
        this.#keep(piece.subarray(at, at + 1), parts);
        this.#isEscaped = false;
        at += 1;
        continue;
      }
      if (backslash >= 0 && backslash < at) backslash = piece.indexOf(BACKSLASH, at);
      const isEscape = backslash >= 0 && (quote < 0 || backslash < quote);
      const end = isEscape ? backslash : quote < 0 ? piece.length : quote;
      this.#keep(piece.subarray(at, end), parts);
      at = end;
      if (isEscape) this.#beginEscape(parts);
      else if (quote >= 0) {
        parts.push(piece.subarray(quote, quote + 1));
        this.#isInside = false;
      }
      if (at < piece.length) at += 1;
    }
    return Buffer.concat(parts);
  }

  /** An escape stays whole, or goes whole. */
  #beginEscape(parts: Buffer[]): void {
    this.#isEscaped = true;
    if (this.#kept + escapeBytesMax > this.#keptBytes) this.#isCut = true;
    this.#keep(Buffer.from('\\'), parts);
  }

  #keep(bytes: Buffer, parts: Buffer[]): void {
    if (this.#isCut || bytes.length === 0) return;
    const room = this.#keptBytes - this.#kept;
    parts.push(bytes.subarray(0, room));
    this.#kept += Math.min(room, bytes.length);
    if (bytes.length > room) this.#isCut = true;
  }
}
