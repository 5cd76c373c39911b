import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { ChunkDecoder } from './event-decoder.ts';

/** Reads a whole reply as the stream of one chunk that it is; a server that streams although it was not asked to sends a list of them. */
export function decodeReply(reply: unknown, reading: ReplyReading): InferenceReply {
  const decoder = new ChunkDecoder(reading, true);
  const chunks: readonly unknown[] = Array.isArray(reply) ? reply : [reply];
  const said = chunks.filter(isJsonObject).flatMap((chunk) => decoder.read(chunk));
  return foldEvents([...said, ...decoder.end()]);
}
