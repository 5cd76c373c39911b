import { type IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

const CR = 0x0d;
const LF = 0x0a;
/** Larger parts are not copied next to their framing. */
const joinedBytesMax = 64 * 1024;

const sentHead = 'sent';

type WriteCallback = (error: Error | null | undefined) => void;

/**
 * A reply that sends each part of a chunked body at once and in one piece, with its framing. For `createServer`. Node
 * sends four pieces at the end of the turn. Everything else is as in any other reply.
 */
export class DirectReply<Request extends IncomingMessage = IncomingMessage> extends ServerResponse<Request> {
  /** Whether the head was passed on with the first part, so that parts may follow without Node. */
  #hasBegun = false;
  #awaitsRoom = false;

  override write(part: string | Uint8Array, encoding?: BufferEncoding | WriteCallback, callback?: WriteCallback): boolean {
    const { socket } = this;
    const [coding, done] = typeof encoding === 'function' ? [undefined, encoding] : [encoding, callback];
    const isPlain = part instanceof Buffer && coding === undefined && done === undefined;
    if (socket === null || !isPlain || !this.#mayFollow(socket) || !isJoined(part)) {
      const isFirst = !this.#hasBegun;
      this.#hasBegun = true;
      const hasRoom = coding === undefined ? super.write(part, done) : super.write(part, coding, done);
      // Node sends the head at the end of this step.
      if (isFirst) process.nextTick(forgetHead, this);
      return hasRoom;
    }
    if (socket.write(frameChunk(part))) return true;
    this.#awaitRoom(socket);
    return false;
  }

  /** Whether all earlier parts were passed on to the socket, and more may follow. */
  #mayFollow(socket: Socket): boolean {
    return this.#hasBegun && this.chunkedEncoding && !this.writableEnded && socket.writable && socket.writableCorked === 0;
  }

  #awaitRoom(socket: Socket): void {
    if (this.#awaitsRoom) return;
    this.#awaitsRoom = true;
    socket.once('drain', () => {
      this.#awaitsRoom = false;
      if (!this.writableEnded) this.emit('drain');
    });
  }
}

/**
 * Node joins a head from some 30 texts, and keeps them all until the reply ends: a kilobyte for each open stream. Once
 * the head was sent, it only looks whether there is one.
 */
function forgetHead(reply: { readonly _headerSent?: boolean; _header?: string | null }): void {
  if (reply._headerSent === true) reply._header = sentHead;
}

function isJoined({ length }: Buffer): boolean {
  return length > 0 && length <= joinedBytesMax;
}

const hexDigits = Buffer.from('0123456789abcdef');

/** A chunk of a body: its size in hexadecimal digits, and its bytes, each with a line end. */
function frameChunk(part: Buffer): Buffer {
  const { length } = part;
  let digits = 1;
  while (length >>> (4 * digits) > 0) digits++;
  const chunk = Buffer.allocUnsafe(digits + length + 4);
  for (let at = 0; at < digits; at++) chunk[at] = hexDigits[(length >>> (4 * (digits - 1 - at))) & 15] ?? 0;
  chunk[digits] = CR;
  chunk[digits + 1] = LF;
  chunk.set(part, digits + 2);
  chunk[digits + length + 2] = CR;
  chunk[digits + length + 3] = LF;
  return chunk;
}
