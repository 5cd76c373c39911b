import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { ReplyReader } from './reply-reader.ts';

/** Reads a whole reply the way a stream is read that says all of it at once, so that the two can never be understood differently. */
export function decodeReply(reply: unknown, reading: ReplyReading): InferenceReply {
  const reader = new ReplyReader(reading);
  const said = isJsonObject(reply) ? reader.read(reply) : [];
  return foldEvents([...said, ...reader.finish()]);
}
