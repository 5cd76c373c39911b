import { EventEmitter } from 'node:events';

import type { ClientReply } from '../../replies/client-reply.ts';

/** Receives a reply while it is sent. */
export type ReplyListener = {
  /** False if it does not keep up: wait for `whenRoom`. */
  readonly add: (bytes: Buffer) => boolean;
  readonly whenRoom: () => Promise<void>;
  /** The reply is over. The client receives its end after the returned promise. */
  readonly ended: (end: {
    readonly status: number;
    readonly headers: Readonly<Record<string, string>>;
    readonly isBroken: boolean;
  }) => Promise<void> | undefined;
};

/**
 * A client's reply that can be recorded. Before `record`, everything goes straight to the client. From then on the
 * reply also belongs to later repetitions: it is written to its end even if its client disconnects, or reads too
 * slowly.
 */
export class RecordedReply implements ClientReply {
  readonly #client: ClientReply;
  /** How long a client may delay the reply. */
  readonly #patienceMs: number;
  readonly #emitter = new EventEmitter();
  #tape: ReplyListener | undefined;
  #status = 200;
  #headers: Record<string, string> = {};
  #isHeadWritten = false;
  #isEnded = false;
  #isClosed = false;
  #isAlone = false;
  #isDraining = false;
  readonly #left = Promise.withResolvers<void>();

  /** @param patienceMs shorter than the stall limit of the writer, which must not abort a recorded reply */
  constructor(client: ClientReply, patienceMs: number) {
    this.#client = client;
    this.#patienceMs = patienceMs;
    this.#emitter.setMaxListeners(0);
    client.on('close', () => this.#onClientClosed());
    client.on('error', (error) => {
      if (this.#emitter.listenerCount('error') > 0) this.#emitter.emit('error', error);
    });
  }

  /** Begins to record. Call it before anything is written. */
  record(tape: ReplyListener): void {
    this.#tape = tape;
  }

  get headersSent(): boolean {
    return this.#tape === undefined ? this.#client.headersSent : this.#isHeadWritten;
  }

  get statusCode(): number {
    return this.#tape === undefined ? this.#client.statusCode : this.#status;
  }

  get destroyed(): boolean {
    return this.#tape === undefined ? this.#client.destroyed : this.#isClosed;
  }

  get writableEnded(): boolean {
    return this.#tape === undefined ? this.#client.writableEnded : this.#isEnded;
  }

  get writableFinished(): boolean {
    if (this.#tape === undefined) return this.#client.writableFinished;
    return this.#isEnded && (this.#hasNoClient() || this.#client.writableFinished);
  }

  get shouldKeepAlive(): boolean {
    return this.#client.shouldKeepAlive;
  }

  set shouldKeepAlive(value: boolean) {
    this.#client.shouldKeepAlive = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> | string[]): this {
    this.#isHeadWritten = true;
    this.#status = status;
    for (const [name, value] of pairsOf(headers)) this.#headers[name.toLowerCase()] = value;
    if (!this.#hasNoClient()) this.#client.writeHead(status, headers);
    return this;
  }

  setHeader(name: string, value: string): this {
    this.#headers[name.toLowerCase()] = value;
    if (!this.#hasNoClient()) this.#client.setHeader(name, value);
    return this;
  }

  flushHeaders(): void {
    if (!this.#hasNoClient()) this.#client.flushHeaders?.();
  }

  write(bytes: Buffer): boolean {
    const tape = this.#tape;
    if (tape === undefined) return this.#client.write(bytes);
    if (this.#isEnded || this.#isClosed) return true;
    this.#isHeadWritten = true;
    const isStored = tape.add(bytes);
    const isTaken = this.#hasNoClient() || this.#client.write(bytes);
    if (isStored && isTaken) return true;
    void this.#drain([...(isStored ? [] : [tape.whenRoom()]), ...(isTaken ? [] : [this.#clientDrained()])]);
    return false;
  }

  async #drain(waits: readonly Promise<void>[]): Promise<void> {
    // The writer resumes after one `drain`.
    if (this.#isDraining) return;
    this.#isDraining = true;
    await Promise.all(waits);
    this.#isDraining = false;
    this.#emitter.emit('drain');
  }

  /** Resolves when the client has received everything, or is not waited for any more. */
  async #clientDrained(): Promise<void> {
    const drained = Promise.withResolvers<void>();
    this.#client.once('drain', drained.resolve);
    const timer = setTimeout(() => this.#client.destroy(), this.#patienceMs);
    await Promise.race([drained.promise, this.#left.promise]);
    clearTimeout(timer);
  }

  end(body?: Buffer | string, encoding: 'latin1' = 'latin1'): this {
    const tape = this.#tape;
    if (tape === undefined) {
      this.#endClient(body, encoding);
      return this;
    }
    if (this.#isEnded || this.#isClosed) return this;
    this.#isEnded = true;
    this.#isHeadWritten = true;
    if (body !== undefined) tape.add(typeof body === 'string' ? Buffer.from(body, encoding) : body);
    const before = tape.ended({ status: this.#status, headers: this.#headers, isBroken: false });
    const conclude = (): void => {
      if (this.#hasNoClient()) this.#close();
      else this.#endClient(body, encoding);
    };
    if (before === undefined) conclude();
    else void before.then(conclude);
    return this;
  }

  #endClient(body: Buffer | string | undefined, encoding: 'latin1'): void {
    if (typeof body === 'string') this.#client.end(body, encoding);
    else if (body === undefined) this.#client.end();
    else this.#client.end(body);
  }

  destroy(): this {
    const tape = this.#tape;
    const wasOver = this.#isEnded || this.#isClosed;
    if (tape !== undefined && !wasOver) {
      this.#isEnded = true;
      void tape.ended({ status: this.#status, headers: this.#headers, isBroken: true });
      this.#close();
    }
    this.#client.destroy();
    return this;
  }

  on(event: 'close' | 'error', listener: (error?: Error) => void): this {
    this.#emitter.on(event, listener);
    return this;
  }

  once(event: 'drain' | 'close', listener: () => void): this {
    if (event === 'drain' && this.#tape === undefined) this.#client.once('drain', listener);
    else this.#emitter.once(event, listener);
    return this;
  }

  setTimeout(ms: number, onTimeout: () => void): this {
    if (this.#tape === undefined) this.#client.setTimeout(ms, onTimeout);
    else if (!this.#hasNoClient()) this.#client.setTimeout(ms, () => this.#client.destroy());
    return this;
  }

  /** Whether no client receives the reply any more. */
  #hasNoClient(): boolean {
    return this.#isAlone || this.#client.destroyed;
  }

  #onClientClosed(): void {
    this.#isAlone = true;
    this.#left.resolve();
    if (this.#tape === undefined || this.#isEnded) this.#close();
  }

  #close(): void {
    if (this.#isClosed) return;
    this.#isClosed = true;
    // As on a connection, `close` follows later, not during the call that ends the reply.
    setImmediate(() => this.#emitter.emit('close'));
  }
}

function* pairsOf(headers: Readonly<Record<string, string>> | readonly string[]): Generator<readonly [string, string]> {
  if (!isList(headers)) return yield* Object.entries(headers);
  for (let index = 0; index + 1 < headers.length; index += 2) yield [headers[index] ?? '', headers[index + 1] ?? ''];
}

function isList(headers: Readonly<Record<string, string>> | readonly string[]): headers is readonly string[] {
  return Array.isArray(headers);
}
