import type { ReplyReport, StreamReport } from '../../../dialects/chat-dialect.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { FrameReader, StreamFraming } from '../../../platform/frames.ts';
import { createJsonArrayFrameReader } from '../../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import { type LeavingRule, limitToDelivered } from './client-disconnect.ts';
import type { AnyExchange, ExchangeContext, Outcome } from './exchange-context.ts';
import type { StreamRelay } from './reply-relay.ts';
import { chargedUsage } from './whole-reply.ts';

/** How often a running stream tells the journal where it stands: at most this much output can be missing after a crash. */
const progressIntervalMs = 200;

/** A reader of a stream's frames. */
export function createFrameReader(framing: StreamFraming, frameBytesMax: number): FrameReader {
  return framing === 'sse' ? createSseFrameReader({ frameBytesMax }) : createJsonArrayFrameReader({ frameBytesMax });
}

/** Whether there is nothing but white space. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09);
}

/** Opens the stream of a reply: how it gets to the client. */
export function openStream<Piece>(context: ExchangeContext<Piece>): StreamRelay<Piece> {
  return context.relay.openStream(context.limits, context.budget !== undefined, chargedUsage(context, 'finished'));
}

/** What a stream is charged that is cut now. */
export function chargedIfCut(context: Pick<ExchangeContext, 'observer'>, report: ReplyReport): Usage {
  const charged = chargedUsage(context, cutByBudget.end);
  return charged === undefined ? countSoFar(report) : charged(report, cutByBudget.complete).usage;
}

/** What a stream that is ended early has used: what its upstream says, and its output by what it has written where that is more. */
function countSoFar({ usageReport, outputCharacters }: ReplyReport): Usage {
  return { ...usageReport?.usage, outputTokens: Math.max(usageReport?.usage.outputTokens ?? 0, estimateTokens(outputCharacters)) };
}

/** Characters of a stream's content that have been handed to its client, where any of it has. */
export function countDelivered(leaving: LeavingRule | undefined, stream: StreamRelay<unknown>): number {
  return leaving?.delivered?.() ?? stream.deliveredCharacters?.() ?? stream.report().outputCharacters;
}

/** Tells the operator of events that nobody could read. */
function warnOfMalformed(
  { logger, requestId, target }: Pick<ExchangeContext, 'logger' | 'requestId' | 'target'>,
  { malformedFrames }: StreamReport,
): void {
  logger.warn({ callId: requestId, upstream: target.upstream.id, malformedFrames }, 'stream events that could not be read were passed on');
}

/** How a stream ended. */
export type StreamEnding = Pick<Outcome, 'end' | 'complete' | 'error'> & {
  /** Why, where it is not what the upstream said. */
  readonly stopReason?: string;
  /** Of what was written, how many characters are charged; absent: all of it. */
  readonly charged?: number;
};

/** The end of a stream for which nothing more was to be had. */
export const cutByBudget: StreamEnding = { end: 'cut', complete: false, stopReason: 'cut: budget' };

/** The outcome of a stream, with what its upstream reported. */
function describeEnding({ stopReason, charged, ...told }: StreamEnding, report: StreamReport): Outcome {
  const known = charged === undefined ? report : limitToDelivered(report, charged);
  return { ...told, report: stopReason === undefined ? known : { ...known, stopReason } };
}

/** A defect of the gateway, told to the operator, and what the client hears of it. */
export function describeDefect({ logger, requestId }: Pick<ExchangeContext, 'logger' | 'requestId'>, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  logger.error({ callId: requestId, err: cause }, 'a stream could not go on');
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

  /** More has come, so long after what came before. */
  heard(gapMs: number): void {
    if (this.#hasContent) this.#context.chunkGaps?.observe(gapMs / 1000);
  }

  /** The first content is about to be handed on. Only the first call is reported. */
  firstContent(): void {
    if (this.#hasContent) return;
    this.#hasContent = true;
    this.#context.observer.firstContent();
  }

  /** Whether a running stream has something to report: its first content, or progress that is due. */
  isDue(nowMs: number): boolean {
    return !this.#hasContent || nowMs - this.#lastProgressMs >= progressIntervalMs;
  }

  tellProgress(nowMs: number): void {
    if (nowMs - this.#lastProgressMs < progressIntervalMs) return;
    this.#lastProgressMs = nowMs;
    this.#context.observer.progress(this.#stream.report());
  }

  /** The stream has ended. @param hasBegun whether its client saw it begin */
  settle(ending: StreamEnding, hasBegun: boolean): void {
    const report = this.#stream.report();
    if (report.malformedFrames > 0) warnOfMalformed(this.#context, report);
    if (ending.error !== undefined && hasBegun) this.#stream.broke?.(ending.error);
    this.#context.observer.settled(describeEnding(ending, report));
  }
}
