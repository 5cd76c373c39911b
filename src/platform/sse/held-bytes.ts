import { FrameTooLargeError } from '../frames.ts';

// A buffer that grew beyond this size for one large frame is released after it.
const KEPT_BYTES_MAX = 65_536;
const FIRST_BYTES = 1024;
const nothing = Buffer.alloc(0);

/**
 * Buffers the beginning of an unfinished frame. It grows by doubling, so that a frame in many small chunks costs linear
 * time and about twice its size. It refuses more bytes than the limit.
 */
export class HeldBytes {
  readonly #bytesMax: number;
  #buffer: Buffer = nothing;
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return this.#length;
  }

  /** Buffers `chunk` from `start` on. Throws FrameTooLargeError if the frame exceeds its limit. */
  hold(chunk: Buffer, start: number): void {
    const added = chunk.length - start;
    if (added === 0) return;
    const length = this.#length + added;
    if (length > this.#bytesMax) throw new FrameTooLargeError(this.#bytesMax);
    if (length > this.#buffer.length) {
      const grown = Buffer.allocUnsafeSlow(Math.max(length, Math.min(this.#buffer.length * 2, this.#bytesMax), FIRST_BYTES));
      this.#buffer.copy(grown, 0, 0, this.#length);
      this.#buffer = grown;
    }
    chunk.copy(this.#buffer, this.#length, start);
    this.#length = length;
  }

  /**
   * Returns the buffered bytes and `chunk` from `start` to `end`, and empties the buffer. The result is a view of the
   * chunk if the buffer was empty, else a copy.
   */
  take(chunk: Buffer, start: number, end: number): Buffer {
    const length = this.#length + end - start;
    if (length > this.#bytesMax) throw new FrameTooLargeError(this.#bytesMax);
    if (this.#length === 0) return chunk.subarray(start, end);
    const bytes = Buffer.concat([this.#buffer.subarray(0, this.#length), chunk.subarray(start, end)], length);
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#buffer = nothing;
    return bytes;
  }

  /** A copy of the buffered bytes. */
  copy(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }
}
