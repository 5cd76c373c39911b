import type { Frame, FrameReader } from '../frames.ts';
import { findLineEnd } from './find-line-end.ts';
import { HeldBytes } from './held-bytes.ts';
import { parseSseFrame } from './parse-sse-frame.ts';

const LF = 0x0a;
const CR = 0x0d;

export type FrameReaderOptions = {
  /** The most bytes that one frame may have, its terminator included. */
  readonly frameBytesMax: number;
};

/**
 * Cuts a server-sent event stream into frames, by the rules of the WHATWG event stream format: lines end with LF, CRLF
 * or CR in any mixture, and a blank line ends an event. Blank lines and comments are frames with empty data, so that no
 * byte is lost.
 *
 * Each byte is read once, with any chunks. A frame that lies within one chunk is a view of that chunk: do not reuse
 * chunks.
 */
export function createSseFrameReader({ frameBytesMax }: FrameReaderOptions): FrameReader {
  return new SseFrameReader(frameBytesMax);
}

class SseFrameReader implements FrameReader {
  readonly #held: HeldBytes;
  #isFirstFrame = true;
  /** The current line is still empty. */
  #isLineEmpty = true;
  /** The last byte was a CR, so an LF that comes next belongs to the same line end. */
  #endsWithCr = false;
  /** A blank line ended with a CR at the end of a chunk, and the frame waits for its LF. */
  #awaitsLf = false;
  /** The stream has ended a line with CRLF. */
  #usesCrLf = false;

  constructor(frameBytesMax: number) {
    this.#held = new HeldBytes(frameBytesMax);
  }

  push(chunk: Buffer): readonly Frame[] {
    const frames: Frame[] = [];
    if (chunk.length === 0) return frames;
    let frameStart = this.#resume(chunk, frames);
    const { length } = chunk;
    let isLineEmpty = this.#isLineEmpty;
    for (let at = this.#endsWithCr ? this.#skipLf(chunk) : frameStart; at < length; at++) {
      const byte = chunk[at];
      if (byte !== LF && byte !== CR) {
        isLineEmpty = false;
        at = findLineEnd(chunk, at + 1) - 1;
        continue;
      }
      if (byte === CR) {
        if (chunk[at + 1] === LF) {
          at++;
          this.#usesCrLf = true;
        } else if (at + 1 === length) {
          this.#endsWithCr = true;
          // If lines end with CRLF, the frame waits for its LF. Otherwise waiting would delay every event until the
          // next one.
          if (isLineEmpty && this.#usesCrLf) {
            this.#awaitsLf = true;
            break;
          }
        }
      }
      if (isLineEmpty) {
        frames.push(this.#frame(this.#held.take(chunk, frameStart, at + 1)));
        frameStart = at + 1;
      }
      isLineEmpty = true;
    }
    this.#isLineEmpty = isLineEmpty;
    this.#held.hold(chunk, frameStart);
    return frames;
  }

  rest(): Buffer {
    return this.#held.copy();
  }

  isBetweenFrames(): boolean {
    return this.#isLineEmpty && this.#held.length === 0 && !this.#endsWithCr && !this.#isFirstFrame;
  }

  /** Ends the frame that waited for the LF of its CR. Returns where the next frame starts in the chunk. */
  #resume(chunk: Buffer, frames: Frame[]): number {
    if (!this.#awaitsLf) return 0;
    this.#awaitsLf = false;
    this.#endsWithCr = false;
    const end = chunk[0] === LF ? 1 : 0;
    frames.push(this.#frame(this.#held.take(chunk, 0, end)));
    return end;
  }

  #skipLf(chunk: Buffer): number {
    this.#endsWithCr = false;
    if (chunk[0] !== LF) return 0;
    this.#usesCrLf = true;
    return 1;
  }

  #frame(bytes: Buffer): Frame {
    const frame = parseSseFrame(bytes, this.#isFirstFrame);
    this.#isFirstFrame = false;
    return frame;
  }
}
