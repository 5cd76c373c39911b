import type { Socket } from 'node:net';

import { type Bytes, joinBytes, piecesOf } from '../byte-pieces.ts';
import { lendMemory } from './body-memory.ts';
import type { ReplyHead, ReplyHeaders } from './reply-head.ts';
import { ReplyParser } from './reply-parser.ts';

/** Controls a request. Has no effect after the request has ended. */
export type UpstreamController = {
  /** Ends the request and its connection. The handler receives nothing more. */
  readonly abort: (reason: Error) => void;
  /** Stops reading, so that the upstream must wait. One or two pieces may still arrive. */
  readonly pause: () => void;
  readonly resume: () => void;
};

/** Receives the events of a request, in this order: the start, heads, pieces of the body, and the end or an error. */
export type UpstreamHandler = {
  /** Called before a connection exists and before anything is sent. */
  readonly onRequestStart: (controller: UpstreamController) => void;
  /** A status line with its headers. A status below 200 is followed by another head. */
  readonly onResponseStart: (controller: UpstreamController, status: number, headers: ReplyHeaders) => void;
  /** A piece of the body. The handler may keep it. */
  readonly onResponseData: (controller: UpstreamController, piece: Buffer) => void;
  readonly onResponseEnd: (controller: UpstreamController) => void;
  /** The request has failed. The `code` is from the system, from TLS, or from this client. */
  readonly onResponseError: (controller: UpstreamController, error: Error) => void;
};

/** A body that is read while it is sent, such as a file. */
export type StreamedBody = {
  /** Its length, which is declared before any of it is read. */
  readonly bytes: number;
  /**
   * Reads it from the beginning. The iteration stops early if the rest is not needed. A wrong length fails the call.
   */
  readonly read: () => AsyncIterable<Buffer>;
};

/** The connection ended before the reply did. */
export class ConnectionClosedError extends Error {
  readonly code = 'CONNECTION_CLOSED';
  constructor() {
    super('the upstream closed the connection');
    this.name = 'ConnectionClosedError';
  }
}

/** A request in one piece needs no scatter list in the kernel. Beyond this size copying costs more. */
const joinedBytesMax = 32 * 1024;

const nothing = Buffer.alloc(0);

/** A body did not have its declared length. */
export class BodyLengthError extends Error {
  readonly code = 'BODY_LENGTH_MISMATCH';
  constructor(bytes: number, declared: number) {
    super(`the body of the request has ${bytes} bytes and was declared to have ${declared}`);
    this.name = 'BodyLengthError';
  }
}

/**
 * One request on its connection, and the controller for its handler, which stays valid when the connection serves
 * another request.
 */
class Exchange implements UpstreamController {
  readonly handler: UpstreamHandler;
  readonly #connection: UpstreamConnection;

  constructor(connection: UpstreamConnection, handler: UpstreamHandler) {
    this.#connection = connection;
    this.handler = handler;
  }

  abort(): void {
    this.#connection.abort(this);
  }

  pause(): void {
    this.#connection.pause(this);
  }

  resume(): void {
    this.#connection.resume(this);
  }
}

export type UpstreamConnectionOptions = {
  readonly headerBytesMax: number;
  /** The reply has ended, and another request may follow. `head` belongs to the reply. */
  readonly onIdle: (connection: UpstreamConnection, head: ReplyHead) => void;
  readonly onClosed: (connection: UpstreamConnection) => void;
};

/** One HTTP/1.1 connection to an upstream, with one request at a time. */
export class UpstreamConnection {
  /** From this time (monotonic clock) the idle connection is not used, because the upstream may be closing it. */
  expiresAtMs = 0;
  readonly #options: UpstreamConnectionOptions;
  readonly #parser: ReplyParser;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #head: ReplyHead | undefined;
  #hasEnded = false;
  /** The memory of the last read, and the range in it that holds the collected pieces of the body. */
  #memory: Buffer = nothing;
  #gatheredStart = 0;
  #gatheredEnd = 0;
  #isReady = false;
  #isPaused = false;
  /** A streamed body is being sent. The connection is not free then, even if the reply is whole. */
  #isSending = false;
  /** The request that waits for the connection. */
  #waiting: { readonly head: string; readonly body: Bytes | StreamedBody | undefined } | undefined;

  /**
   * @param open begins to connect, passes each read to `read` (in memory that is reused), and calls `ready` when the
   * server is authenticated
   */
  constructor(open: (read: (bytes: Buffer) => void, ready: () => void) => Socket, options: UpstreamConnectionOptions) {
    this.#options = options;
    this.#parser = new ReplyParser(
      {
        onHead: (head) => this.#onHead(head),
        onBody: (piece) => this.#onBody(piece),
        onEnd: () => {
          this.#hasEnded = true;
        },
      },
      options.headerBytesMax,
    );
    this.#socket = open(
      (bytes) => this.#onRead(bytes),
      () => this.#onReady(),
    );
    this.#socket.on('error', (error) => this.#fail(error));
    this.#socket.on('end', () => this.#onSocketEnd());
    this.#socket.on('close', () => {
      this.#fail(new ConnectionClosedError());
      options.onClosed(this);
    });
  }

  /** Whether an idle connection can take a request. */
  get isUsable(): boolean {
    return this.#socket.writable && !this.#socket.readableEnded;
  }

  /** Sends a request. The connection must be new or idle. */
  send(head: string, body: Bytes | StreamedBody | undefined, handler: UpstreamHandler): void {
    const exchange = new Exchange(this, handler);
    this.#exchange = exchange;
    this.#head = undefined;
    this.#hasEnded = false;
    this.#parser.reset();
    handler.onRequestStart(exchange);
    if (this.#exchange !== exchange) return;
    if (this.#isReady) this.#write(head, body);
    else this.#waiting = { head, body };
  }

  /** Ends the connection; a request on it fails with the error. */
  destroy(error: Error): void {
    this.#fail(error);
  }

  abort(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#exchange = undefined;
    this.#socket.destroy();
  }

  pause(exchange: Exchange): void {
    if (this.#exchange !== exchange) return;
    this.#isPaused = true;
    this.#socket.pause();
  }

  resume(exchange: Exchange): void {
    if (this.#exchange === exchange) this.#readOn();
  }

  #readOn(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#socket.resume();
  }

  #onReady(): void {
    this.#isReady = true;
    const request = this.#waiting;
    this.#waiting = undefined;
    if (request !== undefined && this.#exchange !== undefined) this.#write(request.head, request.body);
  }

  #write(head: string, body: Bytes | StreamedBody | undefined): void {
    if (body !== undefined && 'read' in body) {
      this.#socket.write(head, 'latin1');
      void this.#stream(body);
      return;
    }
    const length = body?.length ?? 0;
    if (body !== undefined && length > joinedBytesMax) return this.#writeLarge(head, body);
    const bytes = Buffer.allocUnsafe(head.length + length);
    bytes.write(head, 0, 'latin1');
    if (body !== undefined) bytes.set(joinBytes(body), head.length);
    this.#socket.write(bytes);
  }

  /** Sends the head and all pieces with one call of the system. */
  #writeLarge(head: string, body: Bytes): void {
    const socket = this.#socket;
    const pieces = piecesOf(body);
    const release = lendMemory(body);
    socket.cork();
    socket.write(head, 'latin1');
    for (const piece of pieces) {
      // The last piece is written last, and a failed write ends all of them.
      if (piece === pieces.at(-1)) socket.write(piece, release);
      else socket.write(piece);
    }
    socket.uncork();
  }

  /** Sends a body piece by piece, with back-pressure, for as long as its request uses the connection. */
  async #stream(body: StreamedBody): Promise<void> {
    const exchange = this.#exchange;
    this.#isSending = true;
    let sent = 0;
    try {
      for await (const piece of body.read()) {
        if (this.#exchange !== exchange || this.#socket.destroyed) return;
        sent += piece.length;
        if (sent > body.bytes) break;
        // This is set with the last piece; a proper reply is not whole before.
        if (sent === body.bytes) this.#isSending = false;
        if (!this.#socket.write(piece)) await waitForDrain(this.#socket);
      }
      if (sent !== body.bytes) throw new BodyLengthError(sent, body.bytes);
      // The reader of a body may end long after its last piece, when the connection sends the body of another request.
      if (this.#exchange === exchange) this.#isSending = false;
    } catch (error) {
      if (this.#exchange === exchange) this.#fail(error instanceof Error ? error : new Error('the body could not be read'));
    }
  }

  #onRead(bytes: Buffer): void {
    // Unexpected bytes must not become the beginning of the next reply.
    if (this.#exchange === undefined) return void this.#socket.destroy();
    this.#memory = bytes;
    this.#gatheredStart = 0;
    this.#gatheredEnd = 0;
    let used: number;
    try {
      try {
        used = this.#parser.push(bytes);
      } finally {
        // Bytes before the error were a proper part of the reply, and are delivered too.
        this.#handOver();
      }
    } catch (error) {
      return this.#fail(error instanceof Error ? error : new Error('the reply could not be read'));
    }
    if (this.#hasEnded) this.#finish(used === bytes.length);
  }

  #onHead(head: ReplyHead): void {
    this.#head = head;
    const exchange = this.#exchange;
    exchange?.handler.onResponseStart(exchange, head.status, head.headers);
  }

  /**
   * Moves a piece of the body next to those before it, over bytes that were parsed already. Otherwise a reply in
   * one-byte chunks would take a hundred times its size in memory, with an object for each.
   */
  #onBody(piece: Buffer): void {
    const at = piece.byteOffset - this.#memory.byteOffset;
    if (this.#gatheredEnd === 0) {
      this.#gatheredStart = at;
      this.#gatheredEnd = at;
    } else if (at > this.#gatheredEnd) {
      this.#memory.copyWithin(this.#gatheredEnd, at, at + piece.length);
    }
    this.#gatheredEnd += piece.length;
  }

  /** Delivers the collected pieces as a copy, because the next read overwrites the memory. */
  #handOver(): void {
    const memory = this.#memory;
    const length = this.#gatheredEnd - this.#gatheredStart;
    this.#memory = nothing;
    const exchange = this.#exchange;
    if (exchange === undefined || length === 0) return;
    const own = Buffer.allocUnsafe(length);
    memory.copy(own, 0, this.#gatheredStart, this.#gatheredEnd);
    exchange.handler.onResponseData(exchange, own);
  }

  /** The reply is whole. The connection is released first, so that the handler may send the next request on it. */
  #finish(isClean: boolean): void {
    const exchange = this.#exchange;
    const head = this.#head;
    this.#exchange = undefined;
    // If a reply comes before the whole request was sent, the rest of the request stays on the connection.
    const isReusable =
      isClean && !this.#isSending && head?.keepsAlive === true && head.framing.type !== 'until-close' && this.#socket.writableLength === 0;
    if (isReusable && this.isUsable) {
      // The last pieces may have come during a pause. An idle connection must be read, to notice its end.
      this.#readOn();
      this.#options.onIdle(this, head);
    } else {
      this.#socket.destroy();
    }
    exchange?.handler.onResponseEnd(exchange);
  }

  #onSocketEnd(): void {
    if (this.#exchange !== undefined && this.#parser.finish()) this.#finish(false);
    else this.#fail(new ConnectionClosedError());
  }

  #fail(error: Error): void {
    const exchange = this.#exchange;
    this.#exchange = undefined;
    this.#waiting = undefined;
    this.#socket.destroy();
    exchange?.handler.onResponseError(exchange, error);
  }
}

/** Resolves when the socket accepts more, or is closed. */
function waitForDrain(socket: Socket): Promise<void> {
  return new Promise((resolve) => {
    const done = (): void => {
      socket.off('drain', done);
      socket.off('close', done);
      resolve();
    };
    socket.on('drain', done);
    socket.on('close', done);
    if (socket.destroyed) done();
  });
}
