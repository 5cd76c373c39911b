import { EventEmitter } from 'node:events';

import type { ClientReply } from '../../../replies/client-reply.ts';

/** Who hears what a round's reply is written. */
export type RoundReader = {
  readonly head: (headers: Readonly<Record<string, string>>) => void;
  /** False when the reader wants no more for now: `resume` follows. */
  readonly bytes: (count: number) => boolean;
  readonly ended: () => void;
  /** The exchange gave the reply up by itself. */
  readonly givenUp: () => void;
};

/** What stands for the client's connection in one round of the loop. */
export class RoundReply extends EventEmitter implements ClientReply {
  headersSent = false;
  statusCode = 200;
  destroyed = false;
  writableEnded = false;
  writableFinished = false;
  shouldKeepAlive = true;
  readonly #reader: RoundReader;
  readonly #set: Record<string, string> = {};

  constructor(reader: RoundReader) {
    super();
    this.#reader = reader;
  }

  setHeader(name: string, value: string): void {
    this.#set[name] = value;
  }

  writeHead(status: number, headers: Readonly<Record<string, string>> | string[]): void {
    this.headersSent = true;
    this.statusCode = status;
    if (status === 200) this.#reader.head({ ...this.#set, ...(Array.isArray(headers) ? pair(headers) : headers) });
  }

  write(bytes: Buffer): boolean {
    return this.#reader.bytes(bytes.length);
  }

  end(body?: Buffer | string): void {
    if (this.writableEnded) return;
    if (body !== undefined && body.length > 0) this.#reader.bytes(body.length);
    this.writableEnded = true;
    this.writableFinished = true;
    this.#reader.ended();
    this.emit('close');
  }

  /** The reader is ready for more. */
  resume(): void {
    this.emit('drain');
  }

  /** There is no such connection, and so none that stalls. */
  setTimeout(): void {}

  destroy(): void {
    if (this.destroyed) return;
    this.leave();
    this.#reader.givenUp();
  }

  /** The reader has gone. */
  leave(): void {
    if (this.destroyed || this.writableEnded) return;
    this.destroyed = true;
    this.emit('close');
  }
}

function pair(list: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (let at = 0; at + 1 < list.length; at += 2) headers[list[at] ?? ''] = list[at + 1] ?? '';
  return headers;
}
