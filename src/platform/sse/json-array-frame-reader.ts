import { Frame, type FrameReader } from '../frames.ts';
import { HeldBytes } from './held-bytes.ts';
import type { FrameReaderOptions } from './sse-frame-reader.ts';

export type JsonArrayFrameReader = FrameReader & {
  /** Whether the closing bracket of the array has arrived. A body that is not an array never closes. */
  readonly closed: () => boolean;
};

/**
 * Cuts a streamed JSON array into one frame per element, each as soon as its last byte is there. The opening bracket,
 * the comma and the white space before an element belong to its frame; the closing bracket is a frame with empty data,
 * and so is white space after it. A body that is not an array (an error object) is one frame.
 *
 * Only brackets, quotes and escapes are read, each byte once; the reader of an element checks its JSON. Bytes after the
 * closing bracket stay in `rest()`, except white space. A frame that lies within one chunk is a view of that chunk: do
 * not reuse chunks.
 */
export function createJsonArrayFrameReader({ frameBytesMax }: FrameReaderOptions): JsonArrayFrameReader {
  const splitter = new ElementSplitter(frameBytesMax);
  return { push: (chunk) => splitter.push(chunk), rest: () => splitter.rest(), closed: () => splitter.isClosed };
}

/**
 * `start`: only white space yet. `between`: in the array, outside its elements. `after`: the array or the only value
 * has ended.
 */
type Place = 'start' | 'between' | 'nested' | 'string' | 'scalar' | 'after' | 'surplus';

class ElementSplitter {
  readonly #held: HeldBytes;
  isClosed = false;
  #place: Place = 'start';
  #isArray = false;
  /** Number of open brackets of the current element. */
  #depth = 0;
  #isEscaped = false;
  /** Where the element begins, counted from the beginning of its frame. */
  #elementOffset = 0;

  #frames: Frame[] = [];
  #frameStart = 0;

  constructor(frameBytesMax: number) {
    this.#held = new HeldBytes(frameBytesMax);
  }

  push(chunk: Buffer): readonly Frame[] {
    this.#frames = [];
    this.#frameStart = 0;
    let at = 0;
    while (at < chunk.length) at = this.#step(chunk, at);
    if (this.#place === 'after' && this.#frameStart < chunk.length) this.#cut(chunk, chunk.length, false);
    this.#held.hold(chunk, this.#frameStart);
    return this.#frames;
  }

  rest(): Buffer {
    return this.#held.copy();
  }

  /** Reads from `at` to the next change of place, and returns its position. */
  #step(chunk: Buffer, at: number): number {
    switch (this.#place) {
      case 'string':
        return this.#passString(chunk, at);
      case 'nested':
        return this.#passNested(chunk, at);
      case 'scalar':
        return this.#passScalar(chunk, at);
      case 'surplus':
        return chunk.length;
      case 'start':
      case 'between':
      case 'after':
        return this.#passGap(chunk, at);
    }
  }

  #passGap(chunk: Buffer, start: number): number {
    let at = start;
    while (at < chunk.length && isGap(chunk[at], this.#place)) at++;
    if (at === chunk.length) return at;
    const byte = chunk[at];
    if (this.#place === 'after') {
      this.#place = 'surplus';
    } else if (this.#place === 'start' && byte === 0x5b) {
      this.#isArray = true;
      this.#place = 'between';
      return at + 1;
    } else if (this.#place === 'between' && byte === 0x5d) {
      this.isClosed = true;
      this.#place = 'after';
      this.#cut(chunk, at + 1, false);
      return at + 1;
    } else {
      this.#elementOffset = this.#held.length + at - this.#frameStart;
      this.#place = byte === 0x22 ? 'string' : byte === 0x7b || byte === 0x5b ? 'nested' : 'scalar';
      // The places `scalar` and `nested` read the first byte themselves.
      return byte === 0x22 ? at + 1 : at;
    }
    return at;
  }

  #passString(chunk: Buffer, start: number): number {
    let at = start;
    if (this.#isEscaped) {
      this.#isEscaped = false;
      at++;
    }
    for (; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === 0x5c) {
        if (++at >= chunk.length) this.#isEscaped = true;
      } else if (byte === 0x22) {
        if (this.#depth === 0) this.#endElement(chunk, at + 1);
        else this.#place = 'nested';
        return at + 1;
      }
    }
    return chunk.length;
  }

  #passNested(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (byte === 0x22) {
        this.#place = 'string';
        return at + 1;
      }
      if (byte === 0x7b || byte === 0x5b) this.#depth++;
      else if ((byte === 0x7d || byte === 0x5d) && --this.#depth === 0) {
        this.#endElement(chunk, at + 1);
        return at + 1;
      }
    }
    return chunk.length;
  }

  /** A number or a word ends before the first byte that cannot be a part of it. */
  #passScalar(chunk: Buffer, start: number): number {
    for (let at = start; at < chunk.length; at++) {
      const byte = chunk[at];
      if (!isGap(byte, 'between') && byte !== 0x5d) continue;
      this.#endElement(chunk, at);
      return at;
    }
    return chunk.length;
  }

  #endElement(chunk: Buffer, end: number): void {
    this.#place = this.#isArray ? 'between' : 'after';
    this.#cut(chunk, end, true);
  }

  #cut(chunk: Buffer, end: number, isElement: boolean): void {
    const bytes = this.#held.take(chunk, this.#frameStart, end);
    this.#frames.push(new Frame(bytes, undefined, isElement ? bytes.toString('utf8', this.#elementOffset) : ''));
    this.#frameStart = end;
  }
}

/** White space and separators: commas between elements, a byte order mark before the value. */
function isGap(byte: number | undefined, place: Place): boolean {
  if (byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09) return true;
  if (place === 'between') return byte === 0x2c;
  return place === 'start' && (byte === 0xef || byte === 0xbb || byte === 0xbf);
}
