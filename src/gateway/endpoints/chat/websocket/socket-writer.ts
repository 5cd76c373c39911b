import type { Socket } from 'node:net';

import type { WebSocket } from 'ws';

/** The upstream pauses when more than `fullBytes` wait for the client, and continues at `roomBytes`. */
const fullBytes = 64 * 1024;
const roomBytes = 16 * 1024;

/** Writes messages to a WebSocket and knows which of them were sent. */
export class SocketWriter {
  readonly #webSocket: WebSocket;
  readonly #socket: Socket;
  #unsent = 0;
  #onRoom: (() => void) | undefined;
  #onSent: (() => void) | undefined;
  #stallTimer: NodeJS.Timeout | undefined;

  constructor(webSocket: WebSocket, socket: Socket) {
    this.#webSocket = webSocket;
    this.#socket = socket;
  }

  send(text: string): void {
    if (this.#webSocket.readyState !== this.#webSocket.OPEN) return;
    this.#unsent += 1;
    this.#webSocket.send(text, () => {
      this.#unsent -= 1;
      this.#notify();
    });
  }

  isFull(): boolean {
    return this.#webSocket.bufferedAmount > fullBytes;
  }

  /** Calls back each time there is room again, until the next callback is set. */
  whenRoom(callback: (() => void) | undefined): void {
    this.#onRoom = callback;
  }

  /** Calls back once, when everything was sent. */
  whenSent(callback: () => void): void {
    this.#onSent = callback;
    if (this.#unsent === 0) this.#notify();
  }

  /** Calls back if no byte was sent for a time, until all bytes are sent. */
  watchStall(ms: number, onTimeout: () => void): void {
    clearInterval(this.#stallTimer);
    let last = this.#sentBytes();
    this.#stallTimer = setInterval(() => {
      const now = this.#sentBytes();
      if (now === last) onTimeout();
      last = now;
    }, ms).unref();
  }

  close(): void {
    clearInterval(this.#stallTimer);
    this.#onRoom = undefined;
    this.#onSent = undefined;
  }

  #sentBytes(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  #notify(): void {
    if (this.#webSocket.bufferedAmount <= roomBytes) this.#onRoom?.();
    if (this.#unsent > 0) return;
    clearInterval(this.#stallTimer);
    const onSent = this.#onSent;
    this.#onSent = undefined;
    onSent?.();
  }
}
