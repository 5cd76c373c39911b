import { FrameTooLargeError } from '../frames.ts';

// A buffer that had to grow beyond this for one large frame is given back after it.
const KEPT_BYTES_MAX = 65_536;
const FIRST_BYTES = 1024;

/**
 * The beginning of a frame whose end has not come yet. Grows by doubling, so that a frame in many small chunks costs linear time and
 * no more than about twice its size; refuses to hold more than the limit.
 */
export class HeldBytes {
  readonly #bytesMax: number;
  #buffer: Buffer = Buffer.alloc(0);
  #length = 0;

  constructor(bytesMax: number) {
    this.#bytesMax = bytesMax;
  }

  get length(): number {
    return this.#length;
  }

  /** Keeps `chunk` from `start` on. Throws FrameTooLargeError when that is more than a frame may have. */
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

  /** What is held, followed by `chunk` from `start` to `end`: a view of the chunk where nothing is held, else a copy. Holds nothing afterwards. */
  take(chunk: Buffer, start: number, end: number): Buffer {
    const length = this.#length + end - start;
    if (length > this.#bytesMax) throw new FrameTooLargeError(this.#bytesMax);
    if (this.#length === 0) return chunk.subarray(start, end);
    const bytes = Buffer.concat([this.#buffer.subarray(0, this.#length), chunk.subarray(start, end)], length);
    this.#length = 0;
    if (this.#buffer.length > KEPT_BYTES_MAX) this.#buffer = Buffer.alloc(0);
    return bytes;
  }

  /** A copy of what is held. */
  copy(): Buffer {
    return Buffer.from(this.#buffer.subarray(0, this.#length));
  }
}
