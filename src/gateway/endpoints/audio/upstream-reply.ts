import type { ErrorInReply } from '../../../dialects/chat-dialect.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { UpstreamController, UpstreamHandler, UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { describeErrorInReply, describeUpstreamFailure, upstreamTimeout } from '../../attempts/exchange/upstream-failure.ts';
import type { GatewayTimeouts } from '../../settings/limits.ts';
import type { Target } from '../../attempts/routing/target.ts';

/** What an upstream may be ahead of whoever reads its reply. */
const heldBytesMax = 256 * 1024;

const stopped = new Error('the gateway stopped the upstream call');

/**
 * An upstream's reply that is read piece by piece, as fast as its reader asks for more: what is not asked for stays at the upstream.
 * Its waits end by the target's timeouts, and all of them by the call's signal.
 */
export class UpstreamReply implements UpstreamHandler {
  readonly #target: Target;
  readonly #timeouts: GatewayTimeouts;
  readonly #signal: AbortSignal;
  readonly #head = Promise.withResolvers<{ readonly status: number; readonly headers: ReplyHeaders }>();
  readonly #totalTimer: NodeJS.Timeout;
  readonly #onAbort = (): void => this.#fail(abortReason(this.#signal));
  #headTimer: NodeJS.Timeout;
  #controller: UpstreamController | undefined;
  #hasHead = false;
  #pieces: Buffer[] = [];
  #heldBytes = 0;
  #isPaused = false;
  #hasEnded = false;
  #error: GatewayError | undefined;
  /** Tells a waiting reader that there is something new. */
  #wake: (() => void) | undefined;

  constructor(target: Target, timeouts: GatewayTimeouts, signal: AbortSignal) {
    this.#target = target;
    this.#timeouts = timeouts;
    this.#signal = signal;
    const { firstByteMs, totalMs } = timeouts;
    this.#headTimer = setTimeout(() => this.#fail(upstreamTimeout(target, 'answer', firstByteMs)), firstByteMs);
    this.#totalTimer = setTimeout(() => this.#fail(upstreamTimeout(target, 'whole answer', totalMs)), totalMs);
    // Nobody may be waiting for the head any more.
    this.#head.promise.catch(() => {});
  }

  /** Sends the request and resolves with the head of its answer, whatever its status. Rejects with GatewayError when none comes. */
  open(request: UpstreamRequest): Promise<{ readonly status: number; readonly headers: ReplyHeaders }> {
    this.#signal.addEventListener('abort', this.#onAbort, { once: true });
    if (this.#signal.aborted) this.#onAbort();
    else this.#target.upstream.client.send(request, this);
    return this.#head.promise;
  }

  /** The next piece of the body; undefined at its end. Rejects with GatewayError where the reply breaks off. One reader at a time. */
  async next(): Promise<Buffer | undefined> {
    if (this.#pieces.length === 0 && !this.#hasEnded && this.#error === undefined) await this.#waitForMore();
    const piece = this.#pieces.shift();
    if (piece !== undefined) {
      this.#heldBytes -= piece.length;
      if (this.#isPaused && this.#heldBytes < heldBytesMax) {
        this.#isPaused = false;
        this.#controller?.resume();
      }
      return piece;
    }
    if (this.#error !== undefined) throw this.#error;
    return undefined;
  }

  /** All that is left of the body. @throws GatewayError also where that is more than `bytesMax` */
  async readAll(bytesMax: number, tooLarge: GatewayError): Promise<Buffer> {
    const pieces: Buffer[] = [];
    let bytes = 0;
    for (let piece = await this.next(); piece !== undefined; piece = await this.next()) {
      bytes += piece.length;
      if (bytes > bytesMax) throw tooLarge;
      pieces.push(piece);
    }
    return Buffer.concat(pieces);
  }

  /** Wants nothing more. Once at the end of every reply; harmless when repeated. */
  close(): void {
    this.#clear();
    if (this.#hasEnded) return;
    this.#hasEnded = true;
    this.#controller?.abort(stopped);
  }

  /** An error that an event of it holds. */
  describeError(error: ErrorInReply): GatewayError {
    return describeErrorInReply(error, this.#target);
  }

  async #waitForMore(): Promise<void> {
    const { promise, resolve } = Promise.withResolvers<void>();
    const { idleMs } = this.#timeouts;
    const timer = setTimeout(() => this.#fail(upstreamTimeout(this.#target, 'more of the answer', idleMs)), idleMs);
    this.#wake = resolve;
    await promise;
    clearTimeout(timer);
  }

  #tell(): void {
    const wake = this.#wake;
    this.#wake = undefined;
    wake?.();
  }

  #clear(): void {
    clearTimeout(this.#headTimer);
    clearTimeout(this.#totalTimer);
    this.#signal.removeEventListener('abort', this.#onAbort);
  }

  #fail(error: GatewayError): void {
    if (this.#hasEnded || this.#error !== undefined) return;
    this.#error = error;
    this.#clear();
    this.#controller?.abort(error);
    this.#head.reject(error);
    this.#tell();
  }

  onRequestStart(controller: UpstreamController): void {
    this.#controller = controller;
  }

  onResponseStart(_: UpstreamController, status: number, headers: ReplyHeaders): void {
    if (status < 200) return;
    this.#hasHead = true;
    clearTimeout(this.#headTimer);
    this.#head.resolve({ status, headers });
  }

  onResponseData(controller: UpstreamController, piece: Buffer): void {
    this.#pieces.push(piece);
    this.#heldBytes += piece.length;
    if (this.#heldBytes > heldBytesMax && !this.#isPaused) {
      this.#isPaused = true;
      controller.pause();
    }
    this.#tell();
  }

  onResponseEnd(): void {
    this.#hasEnded = true;
    this.#clear();
    this.#tell();
  }

  onResponseError(_: UpstreamController, error: Error): void {
    this.#fail(describeUpstreamFailure(error, this.#target, this.#hasHead));
  }
}

/** Why a call was given up: its client has left, or the gateway ends. */
export function abortReason(signal: AbortSignal): GatewayError {
  const reason: unknown = signal.reason;
  return reason instanceof GatewayError ? reason : new GatewayError('request_timeout', 'the client has left', { cause: reason });
}
