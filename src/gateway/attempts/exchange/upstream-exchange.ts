import { readUpstreamRequestId } from './pass-headers.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { DeadlineCheck } from '../../../platform/http/deadlines.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import type { UpstreamController, UpstreamHandler, UpstreamRequest } from '../../../platform/http/upstream-client.ts';
import { BytesReply } from './bytes-reply.ts';
import { ErrorReply, WholeReply } from './whole-reply.ts';
import type { ExchangeContext, ReplyIntake, UpstreamFlow } from './exchange-context.ts';
import { receiptHeader } from '../../replies/write-reply.ts';
import type { ReplyRelay } from './reply-relay.ts';
import { asStream } from './reply-type.ts';
import { StreamReply } from './stream-reply.ts';
import { describeUpstreamFailure, failUndelivered, upstreamTimeout } from './upstream-failure.ts';

/** The requested form, unless the content type contradicts it. */
function usualShape({ upstreamFraming }: Pick<ReplyRelay, 'upstreamFraming'>, headers: ReplyHeaders): 'whole' | 'stream' {
  const type = String(headers['content-type'] ?? '');
  return (upstreamFraming === 'sse' ? /json|html/ : /html/).test(type) ? 'whole' : 'stream';
}

/** Whether a stream comes in the binary frames of AWS. The answer decides, and not the request. */
function isBinaryStream(headers: ReplyHeaders): boolean {
  return String(headers['content-type'] ?? '').startsWith('application/vnd.amazon.eventstream');
}

const stopped = new Error('the gateway stopped the upstream call');

/**
 * One call's exchange with its upstream. The relay passes the bytes on, or translates them. The exchange reacts to the
 * upstream, to the client's disconnect and to the clock, and settles the call exactly once, at the first of these ends.
 */
export class UpstreamExchange<Piece = Buffer> implements UpstreamHandler, UpstreamFlow, DeadlineCheck {
  readonly #context: ExchangeContext<Piece>;
  readonly #startedMs: number;
  #controller: UpstreamController | undefined;
  #intake: ReplyIntake | undefined;
  /** Set when the upstream is no longer needed. Late events of its connection are ignored. */
  #stopped = false;
  #headersArrived = false;
  #readerLimited = false;
  /** Releases the slot of a reply that is read after its client disconnected. Set while it is read. */
  #leaveDrain: (() => void) | undefined;

  constructor(context: ExchangeContext<Piece>) {
    this.#context = context;
    this.#startedMs = context.clock.monotonicMs();
  }

  /**
   * @param onClosed called once at the end of the client's reply, however it ends; never if the client disconnected
   * before the start
   */
  start(request: UpstreamRequest, onClosed?: () => void): void {
    // The client may disconnect while its call is recorded.
    if (this.#context.sink.isGone) return this.#leaveUnanswered();
    this.#context.sink.onClose(() => {
      onClosed?.();
      this.#onClientClose();
    });
    const { recorder, target, client = target.upstream.client } = this.#context;
    const handler = recorder === undefined ? this : recorder.attempt(request, this, target.upstream.apiKey);
    client.send(request, handler);
  }

  onRequestStart(controller: UpstreamController): void {
    this.#controller = controller;
    if (this.#stopped) controller.abort(stopped);
  }

  onResponseStart(_controller: UpstreamController, status: number, headers: ReplyHeaders): void {
    // Early hints and other 1xx answers come before the real one.
    if (this.#stopped || status < 200) return;
    this.#headersArrived = true;
    this.#guard(() => {
      this.#context.observer.head(status, readUpstreamRequestId(headers, this.#context.target.upstream));
      this.#intake = this.#chooseIntake(status, headers);
      if (this.#leaveDrain !== undefined) this.#intake?.clientLeft(true);
    });
  }

  #chooseIntake(status: number, headers: ReplyHeaders): ReplyIntake | undefined {
    const context = this.#context;
    const { framing } = context;
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity' && status >= 200 && status < 300) {
      this.#abandon(
        new GatewayError(
          'upstream_invalid_reply',
          `Upstream connection error: the model service answered with content-encoding ${String(coding)}, which was not requested.`,
        ),
      );
      return undefined;
    }
    const { relay } = context;
    const passed = relay.replyHeaders(headers);
    if (status < 200 || status > 299) return new ErrorReply(context, this, { status, headers: passed, received: headers });
    if (context.receipt !== undefined) passed[receiptHeader] = context.receipt;
    const shape = relay.shapeOf?.(headers) ?? usualShape(relay, headers);
    if (shape === 'bytes' && relay.bytes !== undefined) return new BytesReply(context, this, relay.bytes, { passed, received: headers });
    if (framing === undefined) return new WholeReply(context, this, passed, true);
    if (shape === 'stream')
      return new StreamReply(
        context,
        this,
        asStream(passed, framing),
        isBinaryStream(headers) ? 'aws-event-stream' : (relay.upstreamFraming ?? framing),
      );
    return new WholeReply(context, this, passed, relay.replay !== undefined || relay.shapeOf !== undefined);
  }

  onResponseData(_controller: UpstreamController, chunk: Buffer): void {
    if (this.#stopped) return;
    try {
      this.#intake?.data(chunk);
    } catch (cause) {
      this.#endBroken(cause);
    }
  }

  onResponseEnd(): void {
    if (this.#stopped) return;
    try {
      this.#intake?.end();
    } catch (cause) {
      this.#endBroken(cause);
    }
    this.#stopped = true;
    this.#leaveDrain?.();
  }

  /** A bug while one reply is read ends only that call. */
  #guard(step: () => void): void {
    try {
      step();
    } catch (cause) {
      this.#endBroken(cause);
    }
  }

  #endBroken(cause: unknown): void {
    // The relay found the reply invalid.
    if (cause instanceof GatewayError) return this.terminate(cause);
    const { logger, requestId } = this.#context;
    logger.error({ callId: requestId, err: cause }, 'reading a reply failed');
    this.terminate(
      new GatewayError('internal_error', `the gateway failed while reading the reply; the stream was terminated (${requestId})`, {
        cause,
      }),
    );
  }

  onResponseError(_controller: UpstreamController, error: Error): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#leaveDrain?.();
    const failure = describeUpstreamFailure(error, this.#context.target, this.#headersArrived);
    this.#guard(() => (this.#intake === undefined ? this.#abandon(failure) : this.#intake.fail(failure)));
  }

  #onClientClose(): void {
    if (this.#context.sink.isDelivered || this.#stopped) return;
    const { policy = 'abort', slots } = this.#context.leaving ?? {};
    if (policy === 'drain') this.#leaveDrain = slots?.take(() => this.#leave(false));
    this.#leave(this.#leaveDrain !== undefined);
  }

  /** @param drains whether the reply is read to its end for its usage */
  #leave(drains: boolean): void {
    if (this.#stopped) return;
    if (this.#intake !== undefined) return this.#guard(() => this.#intake?.clientLeft(drains));
    this.#context.observer.left?.({ policy: this.#context.leaving?.policy ?? 'abort', deliveredCharacters: 0 });
    if (!drains) this.#leaveUnanswered();
  }

  /** Without an answer nothing was delivered, so nothing is charged. */
  #leaveUnanswered(): void {
    this.stop();
    this.#context.observer.settled({ end: 'failed', complete: false });
  }

  /** Ends an attempt before its reply has begun. */
  #abandon(own: GatewayError): void {
    this.stop();
    failUndelivered(this.#context, own);
  }

  pause(): void {
    this.#controller?.pause();
  }

  resume(): void {
    this.#controller?.resume();
  }

  stop(): void {
    if (this.#stopped) return;
    this.#stopped = true;
    this.#leaveDrain?.();
    this.#controller?.abort(stopped);
  }

  /** Ends the call from outside, at shutdown: a running stream receives its error event. */
  terminate(error: GatewayError): void {
    if (this.#stopped) return;
    this.stop();
    if (this.#intake === undefined) this.#abandon(error);
    else this.#intake.fail(error);
  }

  /** Bounds the time for which a client that does not read can keep the end of its reply in memory. */
  #limitReader(): void {
    const { sink, timeouts } = this.#context;
    if (this.#readerLimited || sink.isDelivered || sink.isGone) return;
    this.#readerLimited = true;
    sink.limitReader(timeouts.stalledReaderMs);
  }

  check(nowMs: number): void {
    if (this.#stopped) return this.#limitReader();
    const { timeouts, target, endsByMs } = this.#context;
    const elapsedMs = nowMs - this.#startedMs;
    if (nowMs >= endsByMs) return this.terminate(upstreamTimeout(target, 'end of the reply', timeouts.totalMs));
    if (this.#intake !== undefined) return this.#guard(() => this.#intake?.check(nowMs));
    if (elapsedMs >= timeouts.firstByteMs) this.#abandon(upstreamTimeout(target, 'reply', timeouts.firstByteMs));
  }
}
