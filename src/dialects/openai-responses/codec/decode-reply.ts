import { foldEvents } from '../../../inference/fold-events.ts';
import type { InferenceReply } from '../../../inference/inference-reply.ts';
import { membersOf } from '../../../platform/json/json-readers.ts';
import type { ReplyReading } from '../../chat-codec.ts';
import { ResponseReader } from './response-reader.ts';

/** Reads a whole response like a stream that has all content in its last event. */
export function decodeReply(reply: unknown, reading: ReplyReading): InferenceReply {
  const reader = new ResponseReader(reading);
  reader.finish(membersOf(reply));
  return foldEvents(reader.take());
}
