import type { StreamEvent } from '../../platform/frames.ts';

/**
 * The destination of a call's reply: an HTTP response, or a replacement (a WebSocket, a background response, the step
 * of a tool loop). These members behave as those of Node's `ServerResponse`.
 */
export type ClientReply = {
  readonly headersSent: boolean;
  readonly statusCode: number;
  /** True if the client has disconnected, or the reply was aborted. */
  readonly destroyed: boolean;
  readonly writableEnded: boolean;
  /** True if the client's side has received everything. */
  readonly writableFinished: boolean;
  /** Whether the client's connection may be used again. No effect without a connection. */
  shouldKeepAlive: boolean;
  readonly writeHead: (status: number, headers: Readonly<Record<string, string>> | string[]) => unknown;
  /** Sends the head before the body. Absent if a head cannot be sent separately. */
  readonly flushHeaders?: () => unknown;
  /** False if the client does not keep up: `drain` follows. */
  readonly write: (bytes: Buffer) => boolean;
  /** Receives a stream as events. Absent if it goes as bytes. False if the client does not keep up: `drain` follows. */
  readonly takeEvents?: (events: readonly StreamEvent[]) => boolean;
  readonly setHeader: (name: string, value: string) => unknown;
  readonly end: { (body?: Buffer): unknown; (text: string, encoding: 'latin1'): unknown };
  readonly on: (event: 'close' | 'error', listener: (error?: Error) => void) => unknown;
  readonly once: (event: 'drain' | 'close', listener: () => void) => unknown;
  /** Sets headers that follow the body of a stream. Absent if none can follow. */
  readonly addTrailers?: (headers: Readonly<Record<string, string>>) => unknown;
  /** Calls back after this time without a sent byte. */
  readonly setTimeout: (ms: number, onTimeout: () => void) => unknown;
  readonly destroy: () => unknown;
};
