import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { ReplyReader } from './reply-reader.ts';

/** Reads a whole reply like a stream with a single chunk, so that the two are always read alike. */
export function decodeReply(reply: unknown, reading: ReplyReading): InferenceReply {
  const reader = new ReplyReader(reading);
  const events = isJsonObject(reply) ? reader.read(reply) : [];
  return foldEvents([...events, ...reader.finish()]);
}
