import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { ChunkDecoder } from './event-decoder.ts';

/** Reads a whole reply as a stream of one chunk. A server that streams without a request sends a list of chunks. */
export function decodeReply(reply: unknown, reading: ReplyReading): InferenceReply {
  const decoder = new ChunkDecoder(reading, true);
  const chunks: readonly unknown[] = Array.isArray(reply) ? reply : [reply];
  const events = chunks.filter(isJsonObject).flatMap((chunk) => decoder.read(chunk));
  return foldEvents([...events, ...decoder.end()]);
}
