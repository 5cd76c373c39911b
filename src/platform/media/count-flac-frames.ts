import { id3Bytes, readBuffer } from './count-mpeg-frames.ts';
import { FlacCheckSum, type FlacHeader, type FlacStream, flacHeaderBytesMax, readFlacHeader, readFlacStream } from './flac-frame.ts';
import type { ReadableFile } from './readable-file.ts';

const windowBytes = 256 * 1024;
const id3HeaderBytes = 10;
const markBytes = 4;
const blockHeaderBytes = 4;
const streamInfoBytes = 34;
/** Real files have a few: tags, images, a seek table. */
const metadataBlocksMax = 1024;

/**
 * Measures a FLAC recording by its frames, in seconds. The length in its head is missing in streams, and a client that
 * wants to pay less can change it. Frames do not declare their length, so each byte is read once. A new frame begins at
 * a complete header if the check sum of the frame before matches, or if its number follows. Undefined if the file does
 * not consist of frames.
 */
export async function countFlacFrames(file: ReadableFile): Promise<number | undefined> {
  const found = await findFrames(file);
  if (found === undefined) return undefined;
  const counter = new FrameCounter(found.stream);
  for (let at = found.at; at < file.bytes;) {
    const window = await readBuffer(file, at, at + windowBytes);
    if (window.length === 0) break;
    const isLast = at + window.length >= file.bytes;
    // A header at the edge of the window is read with the next window.
    const end = isLast ? window.length : window.length - flacHeaderBytesMax;
    if (end <= 0 || !counter.take(window, end)) return undefined;
    at += end;
  }
  return counter.seconds;
}

/** Reads the metadata before the frames. */
async function findFrames(file: ReadableFile): Promise<{ readonly stream: FlacStream; readonly at: number } | undefined> {
  let at = id3Bytes(await readBuffer(file, 0, id3HeaderBytes));
  const head = await readBuffer(file, at, at + markBytes + blockHeaderBytes + streamInfoBytes);
  if (head.toString('latin1', 0, markBytes) !== 'fLaC') return undefined;
  const stream = readFlacStream(head.subarray(markBytes + blockHeaderBytes));
  if (stream === undefined) return undefined;
  at += markBytes;
  for (let blocks = 0; blocks < metadataBlocksMax; blocks += 1) {
    const header = await readBuffer(file, at, at + blockHeaderBytes);
    if (header.length < blockHeaderBytes) return undefined;
    at += blockHeaderBytes + header.readUIntBE(1, 3);
    if (header.readUInt8(0) >= 0x80) return { stream, at };
  }
  return undefined;
}

class FrameCounter {
  readonly #stream: FlacStream;
  readonly #sum = new FlacCheckSum();
  #last: FlacHeader | undefined;
  #bytesSinceLast = 0;
  /** Samples by sample rate: integers, which add up exactly. */
  readonly #samples = new Map<number, number>();

  constructor(stream: FlacStream) {
    this.#stream = stream;
  }

  get seconds(): number | undefined {
    if (this.#samples.size === 0) return undefined;
    return [...this.#samples].reduce((sum, [rate, samples]) => sum + samples / rate, 0);
  }

  /** Reads the next bytes up to `end`; later bytes are only inspected. False if these are not frames. */
  take(window: Buffer, end: number): boolean {
    for (let at = 0; at < end;) {
      const mark = window.indexOf(0xff, at);
      const next = mark < 0 || mark >= end ? end : mark;
      this.#pass(window, at, next);
      if (this.#isTooLong()) return false;
      if (next === end) return true;
      const header = readFlacHeader(window, next, this.#stream);
      if (header !== undefined && this.#isNext(header)) this.#count(header);
      this.#pass(window, next, next + 1);
      at = next + 1;
    }
    return true;
  }

  #pass(window: Buffer, start: number, end: number): void {
    this.#sum.add(window, start, end);
    this.#bytesSinceLast += end - start;
  }

  #isNext(header: FlacHeader): boolean {
    const last = this.#last;
    if (last === undefined || this.#sum.isWhole) return true;
    return header.number === last.number + (last.isVariable ? last.samples : 1) && header.isVariable === last.isVariable;
  }

  #count(header: FlacHeader): void {
    this.#samples.set(header.rate, (this.#samples.get(header.rate) ?? 0) + header.samples);
    this.#last = header;
    this.#bytesSinceLast = 0;
    this.#sum.restart();
  }

  /**
   * Whether no frame has begun for longer than a frame can be: a frame is never larger than its samples without
   * compression.
   */
  #isTooLong(): boolean {
    return this.#bytesSinceLast > (this.#last?.bytesMax ?? windowBytes);
  }
}
