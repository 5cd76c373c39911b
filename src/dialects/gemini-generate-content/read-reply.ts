import { isJsonObject } from '../../platform/json/json-value.ts';
import type { ReplyReport } from '../chat-dialect.ts';
import { emptyReplyState, findStopReason, findUsage, readChunk } from './read-chunk.ts';
import type { ReplyState } from './read-chunk.ts';

export function reportReply(state: ReplyState, isFinal: boolean): ReplyReport {
  const usageReport = findUsage(state, isFinal);
  const stopReason = findStopReason(state);
  return {
    outputCharacters: state.outputCharacters,
    ...(usageReport !== undefined && { usageReport }),
    ...(state.servedModel !== undefined && { servedModel: state.servedModel }),
    ...(stopReason !== undefined && { stopReason }),
    ...(state.error !== undefined && { error: state.error }),
  };
}

/**
 * Reads a whole reply, or an error with status 200. A blocked prompt (`promptFeedback` and no candidates) is a reply:
 * the vendor answers it with 200 and bills the prompt. The answer of countTokens is a reply too, without usage.
 */
export function readReply(reply: unknown): ReplyReport {
  // A server that streams without a request, or returns its error in an array, sends a list.
  const chunks = (Array.isArray(reply) ? reply : [reply]).filter(isJsonObject);
  if (chunks.length === 0) return { outputCharacters: 0, error: { message: 'The upstream sent no JSON object.' } };
  return reportReply(chunks.reduce(readChunk, emptyReplyState), true);
}
