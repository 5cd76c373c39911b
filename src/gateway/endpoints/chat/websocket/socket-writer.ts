import type { Socket } from 'node:net';

import type { WebSocket } from 'ws';

/** As much may wait for a client that reads slowly before its upstream has to wait too, and at this much it goes on. */
const fullBytes = 64 * 1024;
const roomBytes = 16 * 1024;

/** Writes messages to a WebSocket and knows what of them has left. */
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
      this.#tell();
    });
  }

  isFull(): boolean {
    return this.#webSocket.bufferedAmount > fullBytes;
  }

  /** Calls back whenever there is room again, until the next callback is set. */
  whenRoom(callback: (() => void) | undefined): void {
    this.#onRoom = callback;
  }

  /** Calls back once, when everything has left. */
  whenSent(callback: () => void): void {
    this.#onSent = callback;
    if (this.#unsent === 0) this.#tell();
  }

  /** Calls back when no byte has left for a time, until all have. */
  watchStall(ms: number, onTimeout: () => void): void {
    clearInterval(this.#stallTimer);
    let last = this.#left();
    this.#stallTimer = setInterval(() => {
      const now = this.#left();
      if (now === last) onTimeout();
      last = now;
    }, ms).unref();
  }

  close(): void {
    clearInterval(this.#stallTimer);
    this.#onRoom = undefined;
    this.#onSent = undefined;
  }

  #left(): number {
    return this.#socket.bytesWritten - this.#socket.writableLength;
  }

  #tell(): void {
    if (this.#webSocket.bufferedAmount <= roomBytes) this.#onRoom?.();
    if (this.#unsent > 0) return;
    clearInterval(this.#stallTimer);
    const onSent = this.#onSent;
    this.#onSent = undefined;
    onSent?.();
  }
}
