import { createHash, type Hash } from 'node:crypto';

/** Takes in a body while it comes, and tells what is safe to hand on before the request is known. */
export type BodyIdentity = {
  /** What may be handed on by now. Of a form its closing boundary is kept back: programs that read forms take it for the end. */
  readonly piece: (bytes: Buffer) => Buffer | undefined;
  /** The end of the body: what tells this request from others, and what was kept back. */
  readonly finish: () => { readonly digest: Buffer; readonly rest: Buffer | undefined };
};

/** As the interfaces of forms have it: RFC 2046, section 5.1.1. */
const lineEnd = '\r\n';
const boundaryPattern = /^multipart\/[^;]+;(?:.*;)?\s*boundary=(?:"([^"]{1,70})"|([^\s;"]{1,70}))/i;

/**
 * Begins to identify a request by its method, its path with what the query asks for, and its body.
 * @param head method and target, without credentials
 * @param contentType of the body: forms are identified by the content of their parts, because clients draw a new boundary each time
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

/** Cuts a form at its boundaries and hashes what lies between them. What follows the closing one belongs to nothing. */
class FormIdentity implements BodyIdentity {
  readonly #whole: Hash;
  readonly #delimiter: Buffer;
  #part = createHash('sha256');
  /** What may be the beginning of a delimiter. A delimiter begins a line; the line's end before the first is not in the body. */
  #tail: Buffer = Buffer.from(lineEnd);
  /** Bytes at the beginning of the next window that are not in the body. */
  #added = lineEnd.length;
  /** The closing delimiter, once it has come. */
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
      // Whether it closes the form stands in the two bytes behind it.
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

  /** Hands on what comes before `end`; the rest waits for what follows it. */
  #pass(window: Buffer, from: number, end: number): Buffer | undefined {
    this.#part.update(window.subarray(from, end));
    this.#tail = Buffer.from(window.subarray(end));
    return this.#own(window.subarray(0, end));
  }

  /** What of the beginning of a window stood in the body. */
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
