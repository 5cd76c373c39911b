import { InvalidReplyError } from './invalid-reply-error.ts';
import { checkTrailer, parseReplyHead, type ReplyHead } from './reply-head.ts';

/** What a parser tells, in the order of the bytes. */
export type ReplyEvents = {
  /** A head has come; those below 200 are followed by another. */
  readonly onHead: (head: ReplyHead) => void;
  /** A piece of the body: a view of what was pushed. */
  readonly onBody: (piece: Buffer) => void;
  readonly onEnd: () => void;
};

type State = 'head' | 'counted' | 'until-close' | 'chunk-size' | 'chunk-data' | 'chunk-end' | 'trailer' | 'ended';

const CR = 0x0d;
const LF = 0x0a;
/**
 * The size of a chunk in hexadecimal digits (exact as a number) and its extensions, which mean nothing to anybody. They are read by their grammar (RFC 9112,
 * section 7.1.1, without its bad white space) all the same: where readers differ about a chunk's line, they differ about where the reply ends.
 */
const chunkSizePattern =
  /^([0-9a-fA-F]{1,12})(?:;[!#$%&'*+\-.^_`|~0-9A-Za-z]+(?:=(?:[!#$%&'*+\-.^_`|~0-9A-Za-z]+|"(?:[\t\x20\x21\x23-\x5b\x5d-\x7e\x80-\xff]|\\[\t\x20-\x7e\x80-\xff])*"))?)*$/;
const chunkLineBytesMax = 4096;
const trailersMax = 64;
/** A server that is still at work may say so several times a minute. */
const interimHeadsMax = 256;
/** What every head begins with. */
const headBeginning = Buffer.from('HTTP/1.');

/**
 * Reads the reply to one request out of the bytes of a connection, however they are cut. It holds back nothing of a body, and of a head or a chunk's
 * line no more than its limit. Pure: no I/O.
 */
export class ReplyParser {
  readonly #events: ReplyEvents;
  readonly #headerBytesMax: number;
  #state: State = 'head';
  /** The beginning of a head or line whose end has not come yet. */
  #held: Buffer | undefined;
  /** Bytes that the body, or the chunk at hand, has left. */
  #left = 0;
  #trailers = 0;
  #interimHeads = 0;

  constructor(events: ReplyEvents, headerBytesMax: number) {
    this.#events = events;
    this.#headerBytesMax = headerBytesMax;
  }

  /** Makes ready for the reply to the next request. */
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

  /** The connection has ended. True when that is a proper end of the body; then the end has been told. */
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
        return this.#readLine(bytes, at, (line) => this.#beginChunk(line));
      case 'chunk-end':
        return this.#readLine(bytes, at, (line) => {
          if (line !== '') throw new InvalidReplyError('a chunk is longer than its size says');
          this.#state = 'chunk-size';
        });
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

  /** What is held and what has come. */
  #join(bytes: Buffer, at: number): Buffer {
    const rest = at === 0 ? bytes : bytes.subarray(at);
    return this.#held === undefined ? rest : Buffer.concat([this.#held, rest]);
  }

  #begin(head: ReplyHead): void {
    if (head.status === 101) throw new InvalidReplyError('it switches to a protocol that nobody asked for');
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

  /** Hands a line on without its end, or holds its beginning until more comes. */
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
    if (digits === undefined) throw new InvalidReplyError('the size of a chunk is no number');
    this.#left = Number.parseInt(digits, 16);
    this.#state = this.#left === 0 ? 'trailer' : 'chunk-data';
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
 * Refuses what can no longer become a head: a server of another protocol, or one that ends lines otherwise, would be waited for until the call's time is over.
 * @param checked how many of the bytes have been looked at before
 */
function checkPartialHead(bytes: Buffer, checked: number): void {
  const length = Math.min(bytes.length, headBeginning.length);
  if (bytes.compare(headBeginning, 0, length, 0, length) !== 0) throw new InvalidReplyError('it does not begin with HTTP/1');
  for (let at = bytes.indexOf(LF, checked); at !== -1; at = bytes.indexOf(LF, at + 1)) {
    if (bytes[at - 1] !== CR) throw new InvalidReplyError('a line of its head has no proper end');
  }
}
