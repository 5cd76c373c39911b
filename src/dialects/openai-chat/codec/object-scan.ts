const quote = 0x22;
const backslash = 0x5c;
const openers = new Set([0x7b, 0x5b]);
const closers = new Set([0x7d, 0x5d]);

/**
 * Detects when text that arrives in pieces is a complete JSON object. Every character is read once, for pieces of any
 * size.
 */
export class ObjectScan {
  #depth = 0;
  #isInString = false;
  #isEscaped = false;
  #hasClosed = false;

  /** Reads the next piece. */
  read(piece: string): void {
    for (let at = 0; at < piece.length && !this.#hasClosed; at++) this.#step(piece.charCodeAt(at));
  }

  isWhole(): boolean {
    return this.#hasClosed;
  }

  #step(code: number): void {
    if (this.#isInString) {
      if (this.#isEscaped) this.#isEscaped = false;
      else if (code === backslash) this.#isEscaped = true;
      else if (code === quote) this.#isInString = false;
    } else if (code === quote) this.#isInString = true;
    else if (openers.has(code)) this.#depth++;
    else if (closers.has(code) && this.#depth > 0) {
      this.#depth--;
      this.#hasClosed = this.#depth === 0;
    }
  }
}
