import type { ReplyHeaders } from './reply-head.ts';
import type { UpstreamController, UpstreamHandler } from './upstream-connection.ts';

/**
 * A request that is sent after its handler was notified of its start, because something must be ready first. The
 * handler may abort, pause and resume from the beginning; this is passed on when the request is sent. After an abort or
 * the end of the reply, the handler receives nothing more.
 */
export class DeferredExchange implements UpstreamController, UpstreamHandler {
  readonly #handler: UpstreamHandler;
  /** Made when somebody asks for its signal, which few requests do. */
  #leaving: AbortController | undefined;
  /** Why the handler has aborted. */
  #reason: Error | undefined;
  #controller: UpstreamController | undefined;
  #isOver = false;
  #isPaused = false;

  constructor(handler: UpstreamHandler) {
    this.#handler = handler;
    handler.onRequestStart(this);
  }

  /** Aborts when the handler aborts. */
  get signal(): AbortSignal {
    if (this.#leaving === undefined) {
      this.#leaving = new AbortController();
      if (this.#reason !== undefined) this.#leaving.abort(this.#reason);
    }
    return this.#leaving.signal;
  }

  /** Whether the request has ended, so that nothing may be sent. */
  get isOver(): boolean {
    return this.#isOver;
  }

  /** Whether the handler has stopped reading. */
  get isPaused(): boolean {
    return this.#isPaused;
  }

  /** Ends the request with an error, which the handler receives. */
  fail(error: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#handler.onResponseError(this, error);
  }

  abort(reason: Error): void {
    if (this.#isOver) return;
    this.#isOver = true;
    this.#reason = reason;
    this.#leaving?.abort(reason);
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
    if (this.#isOver) controller.abort(new Error('the request was aborted before it was sent'));
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
