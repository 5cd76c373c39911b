import type { ReplyReport, StreamReport } from '../../../dialects/chat-dialect.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { FrameReader, StreamFraming } from '../../../platform/frames.ts';
import { createJsonArrayFrameReader } from '../../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../../platform/sse/sse-frame-reader.ts';
import type { LeavingRule } from '../disconnect/departure.ts';
import { limitToDelivered } from '../disconnect/limit-to-delivered.ts';
import type { ExchangeContext, Outcome } from './exchange-context.ts';
import type { ChargedUsage, StreamRelay } from './reply-relay.ts';

/** How often a running stream tells the journal where it stands: at most this much output can be missing after a crash. */
export const progressIntervalMs = 200;

/** A reader of a stream's frames. */
export function createFrameReader(framing: StreamFraming, frameBytesMax: number): FrameReader {
  return framing === 'sse' ? createSseFrameReader({ frameBytesMax }) : createJsonArrayFrameReader({ frameBytesMax });
}

/** Whether there is nothing but white space. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09);
}

/** Tells a relay what its reply will be charged, if it ends so. Undefined for what costs nothing. */
export function chargedUsage({ observer }: Pick<ExchangeContext, 'observer'>, end: Outcome['end']): ChargedUsage | undefined {
  const { meter } = observer;
  return meter === undefined ? undefined : (report, complete) => meter({ end, complete, report });
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
export function warnOfMalformed(
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
export function describeEnding({ stopReason, charged, ...told }: StreamEnding, report: StreamReport): Outcome {
  const known = charged === undefined ? report : limitToDelivered(report, charged);
  return { ...told, report: stopReason === undefined ? known : { ...known, stopReason } };
}

/** A defect of the gateway, told to the operator, and what the client hears of it. */
export function describeDefect({ logger, requestId }: Pick<ExchangeContext, 'logger' | 'requestId'>, cause: unknown): GatewayError {
  if (cause instanceof GatewayError) return cause;
  logger.error({ callId: requestId, err: cause }, 'a stream could not go on');
  return new GatewayError('internal_error', `the gateway failed while reading the reply; the stream was terminated (${requestId})`);
}
