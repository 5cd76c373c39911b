import type { Frame } from '../../platform/frames.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { FrameVerdict, StreamReport, StreamTap, TapOptions } from '../chat-dialect.ts';
import { editFrame } from './edit-reply.ts';
import { emptyReplyState, isFinished, readChunk } from './read-chunk.ts';
import { reportReply } from './read-reply.ts';

/**
 * Returns one chunk, or the chunks of an array: a server may answer a stream request with its whole array, or with an
 * error inside one.
 */
function readChunks(frame: Frame): readonly JsonObject[] | undefined {
  const value = frame.value();
  if (isJsonObject(value)) return [value];
  // The caller counts any other frame as malformed; the bytes are forwarded unchanged.
  return Array.isArray(value) && value.every(isJsonObject) ? value : undefined;
}

/** Whether a chunk contains a part of a reply, its end, or the refusal to make one. Others contain only counts. */
function opensReply({ candidates, promptFeedback }: JsonObject): boolean {
  if (isJsonObject(promptFeedback) && typeof promptFeedback.blockReason === 'string') return true;
  if (!Array.isArray(candidates)) return false;
  return candidates.some((candidate) => {
    if (!isJsonObject(candidate)) return false;
    if (typeof candidate.finishReason === 'string') return true;
    return isJsonObject(candidate.content) && Array.isArray(candidate.content.parts) && candidate.content.parts.length > 0;
  });
}

/**
 * Reads a stream of chunks that passes. With `alt=sse` the dialect has no end mark: a stream is complete when every
 * candidate in it has a finish reason, or the prompt was blocked. An array must also have its closing bracket.
 */
export function createStreamTap({ framing }: TapOptions): StreamTap {
  let reply = emptyReplyState;
  let malformedFrames = 0;
  let isClosed = framing === 'sse';
  let hasContent = false;

  const state = (): StreamReport['state'] => {
    if (reply.error !== undefined) return 'failed';
    return isClosed && isFinished(reply) ? 'complete' : 'open';
  };

  const read = (frame: Frame): FrameVerdict => {
    if (frame.data === '') {
      isClosed ||= frame.bytes.includes(']');
      return 'forward';
    }
    // Imitating servers add the end mark of chat completions.
    if (frame.data === '[DONE]') return 'forward';
    const chunks = readChunks(frame);
    if (chunks === undefined) malformedFrames += 1;
    else reply = chunks.reduce(readChunk, reply);
    hasContent ||= chunks?.some(opensReply) === true;
    return editFrame(frame);
  };

  return {
    read,
    state,
    hasContent: () => hasContent,
    report: () => ({ ...reportReply(reply, state() === 'complete'), state: state(), malformedFrames }),
  };
}
