import type { ReplyReport, StreamReport } from '../../dialects/chat-dialect.ts';
import { estimateTokens } from '../../inference/count-text-characters.ts';
import type { Usage } from '../../inference/usage.ts';
import type { FrameReader, StreamFraming } from '../../platform/frames.ts';
import { createJsonArrayFrameReader } from '../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import type { ExchangeContext } from './exchange-context.ts';

/** A reader of a stream's frames. */
export function createFrameReader(framing: StreamFraming, frameBytesMax: number): FrameReader {
  return framing === 'sse' ? createSseFrameReader({ frameBytesMax }) : createJsonArrayFrameReader({ frameBytesMax });
}

/** Whether there is nothing but white space. */
export function isBlank(bytes: Buffer): boolean {
  return bytes.every((byte) => byte === 0x0a || byte === 0x0d || byte === 0x20 || byte === 0x09);
}

/** What a stream that is ended early has used: what its upstream says, and its output by what it has written where that is more. */
export function countSoFar({ usageReport, outputCharacters }: ReplyReport): Usage {
  return { ...usageReport?.usage, outputTokens: Math.max(usageReport?.usage.outputTokens ?? 0, estimateTokens(outputCharacters)) };
}

/** Tells the operator of events that nobody could read. */
export function warnOfMalformed({ logger, requestId, target }: ExchangeContext, { malformedFrames }: StreamReport): void {
  logger.warn({ requestId, upstream: target.upstream.id, malformedFrames }, 'stream events that could not be read were passed on');
}
