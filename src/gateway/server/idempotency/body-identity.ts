import { createHash, type Hash } from 'node:crypto';

/** Reads a body while it arrives, and returns the part that may be passed on before the request is identified. */
export type BodyIdentity = {
  /**
   * The bytes that may be passed on now. The closing boundary of a form is held back, because readers of forms take it
   * for the end.
   */
  readonly piece: (bytes: Buffer) => Buffer | undefined;
  /** The end of the body: the digest that identifies the request, and the bytes that were held back. */
  readonly finish: () => { readonly digest: Buffer; readonly rest: Buffer | undefined };
};

/** The line end of forms: RFC 2046, section 5.1.1. */
const lineEnd = '\r\n';
const boundaryPattern = /^multipart\/[^;]+;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

/**
 * Begins to identify a request by its method, its path with the query, and its body.
 * @param head method and target, without credentials
 * @param contentType of the body: forms are identified by the content of their parts, because clients choose a new
 * boundary each time
 */
export function identifyBody(head: readonly string[], contentType: string | undefined): BodyIdentity {
  const whole = createHash('sha256');
  for (const part of head) whole.update(`${part.length}:${part}`);
  const found = boundaryPattern.exec(contentType ?? '');
  const boundary = found?.[1] ?? found?.[2];
  if (boundary !== undefined) return new FormIdentity(whole.update('form'), boundary);
  return {
    piece: (bytes) => {
      whole.update(bytes);
      return bytes;
    },
    finish: () => ({ digest: whole.digest(), rest: undefined }),
  };
}

/** Splits a form at its boundaries and hashes the parts. Bytes after the closing boundary do not count. */
class FormIdentity implements BodyIdentity {
  readonly #whole: Hash;
  readonly #delimiter: Buffer;
  #part = createHash('sha256');
  /**
   * The possible beginning of a delimiter. A delimiter begins a line; the line end before the first one is not in the
   * body.
   */
  #tail: Buffer = Buffer.from(lineEnd);
  /** Bytes at the beginning of the next window that are not in the body. */
  #added = lineEnd.length;
  /** The closing delimiter, after it has arrived. */
  #closing: Buffer | undefined;

  constructor(whole: Hash, boundary: string) {
    this.#whole = whole;
    this.#delimiter = Buffer.from(`${lineEnd}--${boundary}`, 'latin1');
  }

  piece(bytes: Buffer): Buffer | undefined {
    if (this.#closing !== undefined) return undefined;
    const window = this.#tail.length === 0 ? bytes : Buffer.concat([this.#tail, bytes]);
    const { length } = this.#delimiter;
    let at = 0;
    for (;;) {
      const found = window.indexOf(this.#delimiter, at);
      if (found === -1) return this.#pass(window, at, Math.max(at, window.length - length + 1));
      // The two bytes behind it show whether it closes the form.
      if (window.length < found + length + 2) return this.#pass(window, at, found);
      this.#part.update(window.subarray(at, found));
      this.#endPart();
      if (window[found + length] === 0x2d && window[found + length + 1] === 0x2d) {
        this.#closing = Buffer.from(window.subarray(Math.max(found, this.#added), found + length + 2));
        return this.#own(window.subarray(0, found));
      }
      at = found + length;
    }
  }

  /** Passes on the bytes before `end`. The rest waits for more. */
  #pass(window: Buffer, from: number, end: number): Buffer | undefined {
    this.#part.update(window.subarray(from, end));
    this.#tail = Buffer.from(window.subarray(end));
    return this.#own(window.subarray(0, end));
  }

  /** The bytes of a window that are in the body. */
  #own(bytes: Buffer): Buffer | undefined {
    const added = Math.min(this.#added, bytes.length);
    this.#added -= added;
    return some(bytes.subarray(added));
  }

  #endPart(): void {
    this.#whole.update(this.#part.digest());
    this.#part = createHash('sha256');
  }

  finish(): { readonly digest: Buffer; readonly rest: Buffer | undefined } {
    if (this.#closing !== undefined) return { digest: this.#whole.digest(), rest: this.#closing };
    this.#part.update(this.#tail);
    this.#endPart();
    return { digest: this.#whole.update('unclosed').digest(), rest: this.#own(this.#tail) };
  }
}

function some(bytes: Buffer): Buffer | undefined {
  return bytes.length === 0 ? undefined : bytes;
}
