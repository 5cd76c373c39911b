import { EventEmitter } from 'node:events';

import { GatewayError } from '../../inference/gateway-error.ts';
import type { StreamEvent } from '../../platform/frames.ts';
import type { ClientReply } from './client-reply.ts';

/** A reply that is not a stream of events: an error, as an HTTP client would receive it. */
export type WholeAnswer = { readonly status: number; readonly headers: Readonly<Record<string, string>>; readonly body: Buffer };

export type EventReplyReader = {
  readonly event: (event: StreamEvent) => void;
  readonly whole: (answer: WholeAnswer) => void;
  /** The reply has ended. Its reader calls `finish` when all of it was passed on. */
  readonly ended: () => void;
  /** Whether the call should pause until `resume`. */
  readonly isFull: () => boolean;
  /** Calls back after this time without a sent byte. Absent if nothing can be stuck. */
  readonly watchStall?: (ms: number, onTimeout: () => void) => void;
  /** The call aborts its reply. */
  readonly destroyed: () => void;
};

/**
 * A client's reply that this process reads: streams as events, all other answers as bytes. Towards its call it behaves
 * as a connection.
 */
export class EventReply implements ClientReply {
  headersSent = false;
  statusCode = 200;
  destroyed = false;
  writableEnded = false;
  writableFinished = false;
  shouldKeepAlive = true;
  readonly #reader: EventReplyReader;
  readonly #emitter = new EventEmitter();
  readonly #whole: Buffer[] = [];
  #headers: Record<string, string> = {};
  #isStream = false;

  constructor(reader: EventReplyReader) {
    this.#reader = reader;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> | string[]): this {
    this.headersSent = true;
    this.statusCode = status;
    this.#headers = { ...this.#headers, ...readHeaders(headers) };
    this.#isStream = status < 300 && (this.#headers['content-type'] ?? '').includes('event-stream');
    return this;
  }

  setHeader(name: string, value: string): this {
    this.#headers[name.toLowerCase()] = value;
    return this;
  }

  write(bytes: Buffer): boolean {
    if (this.destroyed || this.writableEnded) return true;
    this.#whole.push(bytes);
    return !this.#reader.isFull();
  }

  /** Receives more of a stream. Events without a payload are heartbeats. */
  takeEvents(events: readonly StreamEvent[]): boolean {
    if (this.destroyed || this.writableEnded) return true;
    for (const event of events) if (event.data !== '') this.#reader.event(event);
    return !this.#reader.isFull();
  }

  end(body?: Buffer | string, encoding: 'latin1' = 'latin1'): this {
    if (this.destroyed || this.writableEnded) return this;
    if (body !== undefined) this.write(typeof body === 'string' ? Buffer.from(body, encoding) : body);
    this.writableEnded = true;
    if (!this.#isStream) {
      const { statusCode: status } = this;
      this.#reader.whole({ status, headers: this.#headers, body: Buffer.concat(this.#whole) });
    }
    this.#reader.ended();
    return this;
  }

  /** The reader accepts more. */
  resume(): void {
    this.#emitter.emit('drain');
  }

  /** The reader has all of the reply: the call is over. */
  finish(): void {
    if (this.writableFinished || this.destroyed) return;
    this.writableFinished = true;
    this.#close();
  }

  /** The client has disconnected: the call is informed, and the rest is dropped. */
  leave(): void {
    if (!this.destroyed) this.#close();
  }

  destroy(): this {
    if (this.destroyed) return this;
    this.#close();
    this.#reader.destroyed();
    return this;
  }

  #close(): void {
    this.destroyed = true;
    // As on a connection, `close` follows later, not during the call that ends the reply.
    setImmediate(() => this.#emitter.emit('close'));
  }

  on(event: 'close' | 'error', listener: (error?: Error) => void): this {
    this.#emitter.on(event, listener);
    return this;
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    this.#emitter.once(event, listener);
    return this;
  }

  setTimeout(ms: number, onTimeout: () => void): this {
    this.#reader.watchStall?.(ms, onTimeout);
    return this;
  }
}

function readHeaders(headers: Readonly<Record<string, string>> | readonly string[]): Record<string, string> {
  const read: Record<string, string> = {};
  if (isList(headers)) {
    for (let index = 0; index + 1 < headers.length; index += 2) read[(headers[index] ?? '').toLowerCase()] = headers[index + 1] ?? '';
  } else for (const name in headers) read[name.toLowerCase()] = headers[name] ?? '';
  return read;
}

function isList(headers: Readonly<Record<string, string>> | readonly string[]): headers is readonly string[] {
  return Array.isArray(headers);
}

/**
 * Makes a call of the gateway's own and resolves with its whole reply, whatever its status. Rejects as the call does,
 * or with GatewayError if the signal aborts or the call aborts its reply.
 * @param call makes the call, which writes its reply
 */
export async function awaitReply(signal: AbortSignal, call: (reply: ClientReply) => Promise<void>): Promise<WholeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
  const abort = (): void => reject(new GatewayError('request_timeout', 'the call was aborted before its reply was complete'));
  const reply = new EventReply({
    event: () => {},
    whole: resolve,
    ended: () => {
      // A stream has no whole answer: its call has read the events.
      resolve({ status: 200, headers: {}, body: Buffer.alloc(0) });
      reply.finish();
    },
    isFull: () => false,
    destroyed: abort,
  });
  const leave = (): void => {
    reply.leave();
    abort();
  };
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    const [answer] = await Promise.all([promise, call(reply)]);
    return answer;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
