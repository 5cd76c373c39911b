import type { StreamEvent } from '../../platform/frames.ts';

/**
 * Where a call's reply is written: an HTTP response, or something that stands for one (a WebSocket, a background response, the step of a tool
 * loop). It behaves as Node's `ServerResponse` does in these members.
 */
export type ClientReply = {
  readonly headersSent: boolean;
  readonly statusCode: number;
  /** True when the client has gone, or the reply was broken off. */
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  /** True when everything has been handed to the client's side. */
  readonly writableFinished: boolean;
  /** Whether the client's connection may be used again. Nothing where there is none. */
  shouldKeepAlive: boolean;
  readonly writeHead: (status: number, headers: Readonly<Record<string, string>> | string[]) => unknown;
  /** Sends the head that was written before any of the body. Absent where a head is not sent apart. */
  readonly flushHeaders?: () => unknown;
  /** False when the client does not keep up: `drain` follows. */
  readonly write: (bytes: Buffer) => boolean;
  /** Takes a stream as events; absent where it goes as bytes. False when the client does not keep up: `drain` follows. */
  readonly takeEvents?: (events: readonly StreamEvent[]) => boolean;
  readonly setHeader: (name: string, value: string) => unknown;
  readonly end: { (body?: Buffer): unknown; (text: string, encoding: 'latin1'): unknown };
  readonly on: (event: 'close' | 'error', listener: (error?: Error) => void) => unknown;
  readonly once: (event: 'drain' | 'close', listener: () => void) => unknown;
  /** Headers that follow the body of a stream. Absent where nothing can follow. */
  readonly addTrailers?: (headers: Readonly<Record<string, string>>) => unknown;
  /** Calls back after a time without any byte leaving. */
  readonly setTimeout: (ms: number, onTimeout: () => void) => unknown;
  readonly destroy: () => unknown;
};
