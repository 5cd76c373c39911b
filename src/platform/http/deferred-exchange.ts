import type { ReplyHeaders } from './reply-head.ts';
import type { UpstreamController, UpstreamHandler } from './upstream-connection.ts';

/**
 * A request that is sent later than its handler is told that it has started: something has to be there first. The handler may leave, pause and resume from the beginning;
 * what it has asked for is passed on when there is somebody to ask. After it has left, or the reply has ended, it hears nothing more.
 */
export class DeferredExchange implements UpstreamController, UpstreamHandler {
  readonly #handler: UpstreamHandler;
  readonly #leaving = new AbortController();
  #controller: UpstreamController | undefined;
  #isOver = false;
  #isPaused = false;

  constructor(handler: UpstreamHandler) {
    this.#handler = handler;
    handler.onRequestStart(this);
  }

  /** Aborted when the handler leaves. */
  get signal(): AbortSignal {
    return this.#leaving.signal;
  }

  /** Whether nothing is to be sent any more. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Ends it with an error, of which the handler is told. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError(this, error);
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#leaving.abort(reason);
    this.#controller?.abort(reason);
  }

  pause(): void {
    this.#isPaused = true;
    if (!this.#isOver) this.#controller?.pause();
  }

  resume(): void {
    this.#isPaused = false;
    if (!this.#isOver) this.#controller?.resume();
  }

  onRequestStart(controller: UpstreamController): void {
    this.#controller = controller;
    if (this.#isOver) controller.abort(new Error('the request was given up before it was sent'));
    else if (this.#isPaused) controller.pause();
  }

  onResponseStart(_controller: UpstreamController, status: number, headers: ReplyHeaders): void {
    if (!this.#isOver) this.#handler.onResponseStart(this, status, headers);
  }

  onResponseData(_controller: UpstreamController, piece: Buffer): void {
    if (!this.#isOver) this.#handler.onResponseData(this, piece);
  }

  onResponseEnd(): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseEnd(this);
  }

  onResponseError(_controller: UpstreamController, error: Error): void {
    this.fail(error);
  }
}
