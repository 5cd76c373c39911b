import { InvalidReplyError } from './invalid-reply-error.ts';
import { checkTrailer, parseReplyHead, type ReplyHead } from './reply-head.ts';

/** The events of a parser, in the order of the bytes. */
export type ReplyEvents = {
  /** A head was read. Heads below 200 are followed by another. */
  readonly onHead: (head: ReplyHead) => void;
  /** A piece of the body: a view of the pushed bytes. */
  readonly onBody: (piece: Buffer) => void;
  readonly onEnd: () => void;
};

type State = 'head' | 'counted' | 'until-close' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'ended';

const CR = 0x0d;
const LF = 0x0a;
/**
 * The size of a chunk in hexadecimal digits (exact as a number), and its extensions, which have no meaning. Extensions
 * must still match their grammar (RFC 9112, section 7.1.1, without "bad white space"): readers that disagree about the
 * line of a chunk disagree about the end of the reply.
 */
const chunkSizePattern =
  /^([0-9a-fA-F]{1,12})(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
const chunkLineBytesMax = 4096;
/** The value of each byte as a hexadecimal digit; -1 for all others. */
const digitValues = Int8Array.from({ length: 256 }, (_, byte) => '0123456789abcdef'.indexOf(String.fromCharCode(byte).toLowerCase()));
/** A size with more digits is read by its pattern. */
const usualDigitsMax = 6;
const trailersMax = 64;
/** A server that is still working may send several interim heads a minute. */
const interimHeadsMax = 256;
/** Every head begins with this. */
const headBeginning = Buffer.from('HTTP/1.');

/**
 * Reads the reply to one request from the bytes of a connection, in pieces of any size. It buffers no body, and of a
 * head or a chunk's line at most the limit. Pure: no I/O.
 */
export class ReplyParser {
  readonly #events: ReplyEvents;
  readonly #headerBytesMax: number;
  #state: State = 'head';
  /** The beginning of an unfinished head or line. */
  #held: Buffer | undefined;
  /** Bytes that are missing of the body, or of the current chunk. */
  #left = 0;
  #trailers = 0;
  #interimHeads = 0;

  constructor(events: ReplyEvents, headerBytesMax: number) {
    this.#events = events;
    this.#headerBytesMax = headerBytesMax;
  }

  /** Prepares for the reply to the next request. */
  reset(): void {
    this.#state = 'head';
    this.#held = undefined;
    this.#trailers = 0;
    this.#interimHeads = 0;
  }

  /**
   * Takes the next bytes. Returns how many of them belong to the reply: fewer than all when bytes follow its end.
   * @throws InvalidReplyError
   */
  push(bytes: Buffer): number {
    let at = 0;
    while (at < bytes.length && this.#state !== 'ended') at = this.#step(bytes, at);
    return at;
  }

  /** The connection has ended. Returns true if this properly ends the body; then the end was reported. */
  finish(): boolean {
    if (this.#state !== 'until-close') return false;
    this.#end();
    return true;
  }

  #step(bytes: Buffer, at: number): number {
    switch (this.#state) {
      case 'head':
        return this.#readHead(bytes, at);
      case 'counted':
      case 'chunk-data':
        return this.#readCounted(bytes, at);
      case 'until-close':
        this.#events.onBody(at === 0 ? bytes : bytes.subarray(at));
        return bytes.length;
      case 'chunk-size':
        return this.#readUsualSize(bytes, at) ?? this.#readLine(bytes, at, (line) => this.#beginChunk(line));
      case 'chunk-end':
        return this.#readUsualEnd(bytes, at) ?? this.#readLine(bytes, at, (line) => this.#endChunk(line));
      case 'trailer':
        return this.#readLine(bytes, at, (line) => this.#readTrailer(line));
      case 'ended':
        return at;
    }
  }

  #readHead(bytes: Buffer, at: number): number {
    const held = this.#held?.length ?? 0;
    const all = this.#join(bytes, at);
    // The blank line may have begun in what was held.
    const blank = all.indexOf('\r\n\r\n', Math.max(0, held - 3));
    const length = blank === -1 ? all.length : blank + 4;
    if (length > this.#headerBytesMax) throw new InvalidReplyError(`its headers are larger than ${this.#headerBytesMax} bytes`);
    if (blank === -1) {
      checkPartialHead(all, held);
      this.#held = held === 0 ? Buffer.from(all) : all;
      return bytes.length;
    }
    this.#held = undefined;
    this.#begin(parseReplyHead(all.toString('latin1', 0, blank)));
    return at + length - held;
  }

  /** The buffered bytes and the new ones. */
  #join(bytes: Buffer, at: number): Buffer {
    const rest = at === 0 ? bytes : bytes.subarray(at);
    return this.#held === undefined ? rest : Buffer.concat([this.#held, rest]);
  }

  #begin(head: ReplyHead): void {
    if (head.status === 101) throw new InvalidReplyError('it switches to a protocol that was not requested');
    if (head.status < 200) {
      this.#interimHeads += 1;
      if (this.#interimHeads > interimHeadsMax) throw new InvalidReplyError('it is announced without an end');
      if (!head.keepsAlive) throw new InvalidReplyError('it is announced on a connection that ends with the announcement');
    }
    this.#events.onHead(head);
    if (head.status < 200) return;
    const { framing } = head;
    if (framing.type === 'until-close') this.#state = 'until-close';
    else if (framing.type === 'chunked') this.#state = 'chunk-size';
    else if (framing.bytes === 0) this.#end();
    else {
      this.#state = 'counted';
      this.#left = framing.bytes;
    }
  }

  #readCounted(bytes: Buffer, at: number): number {
    const end = Math.min(bytes.length, at + this.#left);
    this.#left -= end - at;
    this.#events.onBody(at === 0 && end === bytes.length ? bytes : bytes.subarray(at, end));
    if (this.#left > 0) return end;
    if (this.#state === 'counted') this.#end();
    else this.#state = 'chunk-end';
    return end;
  }

  /** Passes on a line without its end, or buffers its beginning until more arrives. */
  #readLine(bytes: Buffer, at: number, take: (line: string) => void): number {
    const held = this.#held?.length ?? 0;
    const newLine = bytes.indexOf(LF, at);
    const end = newLine === -1 ? bytes.length : newLine + 1;
    if (held + end - at > chunkLineBytesMax) throw new InvalidReplyError('a line between chunks is too long');
    const line = this.#join(end === bytes.length ? bytes : bytes.subarray(0, end), at);
    if (newLine === -1) {
      this.#held = held === 0 ? Buffer.from(line) : line;
      return end;
    }
    this.#held = undefined;
    if (line[line.length - 2] !== CR) throw new InvalidReplyError('a line between chunks has no proper end');
    take(line.toString('latin1', 0, line.length - 2));
    return end;
  }

  #beginChunk(line: string): void {
    const digits = chunkSizePattern.exec(line)?.[1];
    if (digits === undefined) throw new InvalidReplyError('the size of a chunk is not a number');
    this.#expect(Number.parseInt(digits, 16));
  }

  #expect(chunkBytes: number): void {
    this.#left = chunkBytes;
    this.#state = chunkBytes === 0 ? 'trailer' : 'chunk-data';
  }

  #endChunk(line: string): void {
    if (line !== '') throw new InvalidReplyError('a chunk is longer than its size says');
    this.#state = 'chunk-size';
  }

  /**
   * Reads the line of a chunk from its bytes if it is whole and has a few digits and nothing else, as in almost every
   * event of a stream. Returns where it ends. Undefined for any other line: then nothing was read.
   */
  #readUsualSize(bytes: Buffer, at: number): number | undefined {
    if (this.#held !== undefined) return undefined;
    let size = 0;
    let end = at;
    for (; end - at <= usualDigitsMax; end++) {
      const digit = digitValues[bytes[end] ?? 0] ?? -1;
      if (digit === -1) break;
      size = size * 16 + digit;
    }
    const digits = end - at;
    if (digits === 0 || digits > usualDigitsMax || bytes[end] !== CR || bytes[end + 1] !== LF) return undefined;
    this.#expect(size);
    return end + 2;
  }

  /** The same for the empty line after the bytes of a chunk. */
  #readUsualEnd(bytes: Buffer, at: number): number | undefined {
    if (this.#held !== undefined || bytes[at] !== CR || bytes[at + 1] !== LF) return undefined;
    this.#state = 'chunk-size';
    return at + 2;
  }

  #readTrailer(line: string): void {
    if (line === '') return this.#end();
    this.#trailers += 1;
    if (this.#trailers > trailersMax) throw new InvalidReplyError('it has too many trailers');
    checkTrailer(line);
  }

  #end(): void {
    this.#state = 'ended';
    this.#events.onEnd();
  }
}

/**
 * Refuses bytes that can no longer become a head. Otherwise the call would wait until its deadline for a server of
 * another protocol.
 * @param checked number of bytes that were checked before
 */
function checkPartialHead(bytes: Buffer, checked: number): void {
  const length = Math.min(bytes.length, headBeginning.length);
  if (bytes.compare(headBeginning, 0, length, 0, length) !== 0) throw new InvalidReplyError('it does not begin with HTTP/1');
  for (let at = bytes.indexOf(LF, checked); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) throw new InvalidReplyError('a line of its head has no proper end');
  }
}
