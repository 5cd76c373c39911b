import type { Socket } from 'node:net';

import type { ReplyHead, ReplyHeaders } from './reply-head.ts';
import { ReplyParser } from './reply-parser.ts';

/** What a handler may do to its request. Harmless when the request has ended. */
export type UpstreamController = {
  /** Ends the request and its connection. The handler hears nothing more. */
  readonly abort: (reason: Error) => void;
  /** Stops reading, so that the upstream has to wait. A piece or two may still come. */
  readonly pause: () => void;
  readonly resume: () => void;
};

/** Hears of what becomes of a request, in this order: the start, heads, pieces of the body, and the end or an error. */
export type UpstreamHandler = {
  /** Called before anything is sent and before a connection is there. */
  readonly onRequestStart: (controller: UpstreamController) => void;
  /** A status line with its headers. One below 200 announces another. */
  readonly onResponseStart: (controller: UpstreamController, status: number, headers: ReplyHeaders) => void;
  /** A piece of the body, which is the handler's own from here on. */
  readonly onResponseData: (controller: UpstreamController, piece: Buffer) => void;
  readonly onResponseEnd: (controller: UpstreamController) => void;
  /** Nothing more comes. Its `code` is that of the system or of TLS, or one of this client. */
  readonly onResponseError: (controller: UpstreamController, error: Error) => void;
};

/** A body that is read while it is sent, such as a file. */
export type StreamedBody = {
  /** Its length, which is declared before anything of it is read. */
  readonly bytes: number;
  /** Reads it from its beginning. Left early where nothing more of it is wanted; one that comes to another length breaks its call. */
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

/** A request in one piece spares the kernel a scatter list; beyond this copying costs more than it spares. */
const joinedBytesMax = 32 * 1024;

const nothing = Buffer.alloc(0);

/** What was read of a body is not what was declared of it. */
export class BodyLengthError extends Error {
  readonly code = 'BODY_LENGTH_MISMATCH';
  constructor(bytes: number, declared: number) {
    super(`the body of the request has ${bytes} bytes and was declared to have ${declared}`);
    this.name = 'BodyLengthError';
  }
}

/** One request on its connection: what its handler steers it with, even when the connection has gone on to another request. */
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
  /** The reply has ended and another request may follow; `head` is that of the reply. */
  readonly onIdle: (connection: UpstreamConnection, head: ReplyHead) => void;
  readonly onClosed: (connection: UpstreamConnection) => void;
};

/** One HTTP/1.1 connection to an upstream, with one request at a time. */
export class UpstreamConnection {
  /** On the monotonic clock: from then on an idle connection is not used again, because the upstream may be closing it. */
  expiresAtMs = 0;
  readonly #options: UpstreamConnectionOptions;
  readonly #parser: ReplyParser;
  readonly #socket: Socket;
  #exchange: Exchange | undefined;
  #head: ReplyHead | undefined;
  #hasEnded = false;
  /** The memory that is being read, and where in it the pieces of the body that came with it are gathered. */
  #memory: Buffer = nothing;
  #gatheredStart = 0;
  #gatheredEnd = 0;
  #isReady = false;
  #isPaused = false;
  /** A streamed body is on its way: the connection is not free when the reply is whole. */
  #isSending = false;
  /** The request that waits for the connection to be made. */
  #waiting: { readonly head: string; readonly body: Buffer | StreamedBody | undefined } | undefined;

  /** @param open begins to connect, hands what is read to `read` (memory that is used again), and calls `ready` when the other side is known */
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
  send(head: string, body: Buffer | StreamedBody | undefined, handler: UpstreamHandler): void {
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

  #write(head: string, body: Buffer | StreamedBody | undefined): void {
    if (body !== undefined && 'read' in body) {
      this.#socket.write(head, 'latin1');
      void this.#stream(body);
      return;
    }
    const length = body?.length ?? 0;
    if (body !== undefined && length > joinedBytesMax) {
      this.#socket.cork();
      this.#socket.write(head, 'latin1');
      this.#socket.write(body);
      this.#socket.uncork();
      return;
    }
    const bytes = Buffer.allocUnsafe(head.length + length);
    bytes.write(head, 0, 'latin1');
    if (body !== undefined) bytes.set(body, head.length);
    this.#socket.write(bytes);
  }

  /** Sends a body piece by piece, no faster than the other side takes it, and for as long as its request is the connection's. */
  async #stream(body: StreamedBody): Promise<void> {
    const exchange = this.#exchange;
    this.#isSending = true;
    let sent = 0;
    try {
      for await (const piece of body.read()) {
        if (this.#exchange !== exchange || this.#socket.destroyed) return;
        sent += piece.length;
        if (sent > body.bytes) break;
        // With its last piece, before which no proper reply is whole.
        if (sent === body.bytes) this.#isSending = false;
        if (!this.#socket.write(piece)) await waitForDrain(this.#socket);
      }
      if (sent !== body.bytes) throw new BodyLengthError(sent, body.bytes);
      this.#isSending = false;
    } catch (error) {
      if (this.#exchange === exchange) this.#fail(error instanceof Error ? error : new Error('the body could not be read'));
    }
  }

  #onRead(bytes: Buffer): void {
    // Bytes that nobody asked for: whatever they mean, they must not become the beginning of the next reply.
    if (this.#exchange === undefined) return void this.#socket.destroy();
    this.#memory = bytes;
    this.#gatheredStart = 0;
    this.#gatheredEnd = 0;
    let used: number;
    try {
      try {
        used = this.#parser.push(bytes);
      } finally {
        // Also what came before a fault, which was a proper part of the reply.
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
   * Moves a piece of the body up to those before it, over what has been read already. A reply in chunks of one byte would otherwise be a hundred times its
   * size in memory, an object for each.
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

  /** Hands on what was gathered of the body, as a copy: the memory that was read into is used again for the next read. */
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

  /** The reply is whole. Whether the connection is free is settled first, so that its next request may come out of the handler. */
  #finish(isClean: boolean): void {
    const exchange = this.#exchange;
    const head = this.#head;
    this.#exchange = undefined;
    // A reply that came before the whole request was sent leaves the rest of the request on the connection.
    const isReusable =
      isClean && !this.#isSending && head?.keepsAlive === true && head.framing.type !== 'until-close' && this.#socket.writableLength === 0;
    if (isReusable && this.isUsable) {
      // The last pieces may have come after a pause; an idle connection must hear of its end.
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

/** Resolves when the socket takes more, or is no more. */
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
