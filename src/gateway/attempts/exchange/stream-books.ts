import type { ReplyReport, StreamReport } from '../../../dialects/chat-dialect.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import { DamagedFrameError, type FrameReader, FrameTooLargeError, type StreamFraming } from '../../../platform/frames.ts';
import { createEventStreamReader } from '../../../platform/event-stream/event-stream-reader.ts';
import { createJsonArrayFrameReader } from '../../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import { type DisconnectRule, limitToDelivered } from './client-disconnect.ts';
import type { AnyExchange, ExchangeContext, Outcome } from './exchange-context.ts';
import type { StreamRelay } from './reply-relay.ts';
import { chargedUsage } from './whole-reply.ts';

/** How often a running stream records its progress. A crash loses at most this much output. */
const progressIntervalMs = 200;

const frameReaders: Readonly<Record<StreamFraming, (options: { readonly frameBytesMax: number }) => FrameReader>> = {
  sse: createSseFrameReader,
  'json-array': createJsonArrayFrameReader,
  'aws-event-stream': createEventStreamReader,
};

/** The reader of an upstream's stream. Binary frames come from it in the form of the upstream's dialect. */
export function openReader({ relay: { reframe }, limits }: Pick<AnyExchange, 'relay' | 'limits'>, framing: StreamFraming): FrameReader {
  const reader = frameReaders[framing]({ frameBytesMax: limits.eventBytesMax });
  if (framing !== 'aws-event-stream' || reframe === undefined) return reader;
  return { push: (chunk) => reader.push(chunk).flatMap((frame) => reframe(frame)), rest: () => reader.rest() };
}

/** The error of a stream whose frames cannot be read. Any other error is a bug, and is thrown again. */
export function describeFrameError(error: unknown): GatewayError {
  const isDamaged = error instanceof DamagedFrameError;
  if (!isDamaged && !(error instanceof FrameTooLargeError)) throw error;
  const code = isDamaged ? 'upstream_invalid_reply' : 'upstream_reply_too_large';
  return new GatewayError(code, `Upstream connection error: ${error.message}; the stream was terminated.`);
}

/** Whether there is only white space. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09);
}

export function openStream<Piece>(context: ExchangeContext<Piece>): StreamRelay<Piece> {
  return context.relay.openStream(context.limits, context.budget !== undefined, chargedUsage(context, 'finished'));
}

/** The usage that a stream is charged if it is cut now. */
export function chargedIfCut(context: Pick<ExchangeContext, 'observer'>, report: ReplyReport): Usage {
  const charged = chargedUsage(context, cutByBudget.end);
  return charged === undefined ? countSoFar(report) : charged(report, cutByBudget.complete).usage;
}

/** The usage of a stream that ends early: the upstream's report, with at least the output that it has written. */
function countSoFar({ usageReport, outputCharacters }: ReplyReport): Usage {
  return { ...usageReport?.usage, outputTokens: Math.max(usageReport?.usage.outputTokens ?? 0, estimateTokens(outputCharacters)) };
}

/** Characters of a stream's content that its client has received. */
export function countDelivered(leaving: DisconnectRule | undefined, stream: StreamRelay<unknown>): number {
  return leaving?.delivered?.() ?? stream.deliveredCharacters?.() ?? stream.report().outputCharacters;
}

function warnOfMalformed(
  { logger, requestId, target }: Pick<ExchangeContext, 'logger' | 'requestId' | 'target'>,
  { malformedFrames }: StreamReport,
): void {
  logger.warn({ callId: requestId, upstream: target.upstream.id, malformedFrames }, 'malformed stream events passed on');
}

/** How a stream ended. */
export type StreamEnding = Pick<Outcome, 'end' | 'complete' | 'error'> & {
  /** Replaces the upstream's stop reason. */
  readonly stopReason?: string;
  /** How many of the written characters are charged. Absent: all. */
  readonly charged?: number;
};

/** The end of a stream whose hold could not be extended. */
export const cutByBudget: StreamEnding = { end: 'cut', complete: false, stopReason: 'cut: budget' };

/** The outcome of a stream with its upstream's report. */
function describeEnding({ stopReason, charged, ...ending }: StreamEnding, report: StreamReport): Outcome {
  const chargedReport = charged === undefined ? report : limitToDelivered(report, charged);
  return { ...ending, report: stopReason === undefined ? chargedReport : { ...chargedReport, stopReason } };
}

/** The client's error for a bug of the gateway, which is also logged. */
export function describeDefect({ logger, requestId }: Pick<ExchangeContext, 'logger' | 'requestId'>, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  logger.error({ callId: requestId, err: cause }, 'relaying a stream failed');
  return new GatewayError('internal_error', `the gateway failed while reading the reply; the stream was terminated (${requestId})`);
}

/** Reports the progress of a stream to the observer of its exchange, at most every `progressIntervalMs`. */
export class StreamBooks {
  readonly #context: Pick<AnyExchange, 'observer' | 'logger' | 'requestId' | 'target' | 'chunkGaps'>;
  readonly #stream: Pick<StreamRelay<unknown>, 'report' | 'broke'>;
  #hasContent = false;
  #lastProgressMs = 0;

  constructor(context: AnyExchange, stream: StreamRelay<unknown>) {
    this.#context = context;
    this.#stream = stream;
  }

  /** A chunk arrived this long after the last one. */
  heard(gapMs: number): void {
    if (this.#hasContent) this.#context.chunkGaps?.observe(gapMs / 1000);
  }

  /** The first content is about to go to the client. Only the first call is reported. */
  firstContent(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#context.observer.firstContent();
  }

  /** Whether a running stream must report its first content, or progress that is due. */
  isDue(nowMs: number): boolean {
    return !this.#hasContent || nowMs - this.#lastProgressMs >= progressIntervalMs;
  }

  tellProgress(nowMs: number): void {
    if (nowMs - this.#lastProgressMs < progressIntervalMs) return;
    this.#lastProgressMs = nowMs;
    this.#context.observer.progress(this.#stream.report());
  }

  /**
   * The stream has ended.
   * @param hasBegun whether its client received a part of it
   */
  settle(ending: StreamEnding, hasBegun: boolean): void {
    const report = this.#stream.report();
    if (report.malformedFrames > 0) warnOfMalformed(this.#context, report);
    if (ending.error !== undefined && hasBegun) this.#stream.broke?.(ending.error);
    this.#context.observer.settled(describeEnding(ending, report));
  }
}
