import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { replayReply } from '../../../inference/replay-reply.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyWriting } from '../../chat-codec.ts';
import { encodeCompaction } from './compaction-encoder.ts';
import { ResponseWriter } from './event-encoder.ts';

/** Writes a whole reply: the response that its stream adds up to, so that both are equal. */
export function encodeReply(reply: InferenceReply, writing: ReplyWriting): JsonObject {
  if (writing.compaction !== undefined) return encodeCompaction(reply, writing, writing.compaction);
  const writer = new ResponseWriter(writing);
  for (const event of replayReply(reply)) writer.write(event);
  return writer.response();
}
