import type { ReplyReading } from '../../dialects/chat-codec.ts';
import { chatDialects } from '../../dialects/registry.ts';
import { foldEvents } from '../../inference/fold-events.ts';
import type { InferenceEvent } from '../../inference/inference-event.ts';
import type { InferenceReply } from '../../inference/inference-reply.ts';
import { createTranslationNotes } from '../../inference/translation-notes.ts';
import type { Frame, FrameReader, StreamFraming } from '../../platform/frames.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { parseJson } from '../../platform/json/parse-json.ts';
import { createJsonArrayFrameReader } from '../../platform/sse/json-array-frame-reader.ts';
import { createSseFrameReader } from '../../platform/sse/sse-frame-reader.ts';
import { type DescribedRequest, describeReply, describeRequest } from './describe-messages.ts';
import type { RecordedBody, RecordedChat } from './recorded-call.ts';

/** Decodes the request of a chat. Undefined if it has no neutral form; then its JSON is recorded. */
export function decodeChatRequest(
  { dialect, operation, pathModel, pathFraming }: RecordedChat,
  body: JsonObject,
): DescribedRequest | undefined {
  try {
    return describeRequest(chatDialects[dialect].codec.decodeRequest({ operation, body, headers: {}, pathModel, pathFraming }));
  } catch {
    // Some valid requests have no neutral form, for example several candidates.
    return undefined;
  }
}

/** Decodes the reply of a chat, as its client received it. Undefined if it cannot be read. */
export function decodeChatReply({ dialect, operation }: RecordedChat, reply: RecordedBody): JsonObject | undefined {
  if (operation !== 'generate') return undefined;
  const { codec } = chatDialects[dialect];
  const notes = createTranslationNotes(codec.fieldNames, false);
  let ids = 0;
  const reading: ReplyReading = { proofOrigin: '', newId: (prefix) => `${prefix}${(ids += 1)}`, notes };
  const bytes = Buffer.from(reply.bytes.buffer, reply.bytes.byteOffset, reply.bytes.length);
  try {
    const framing = framingOf(reply);
    if (framing === undefined) return describeReply(codec.decodeReply(parseJson(bytes), reading));
    const decoder = codec.createEventDecoder(reading, framing);
    const frames = readFrames(bytes, framing);
    return describeReply(foldOpen([...frames.flatMap((frame) => decoder.read(frame)), ...decoder.end()]));
  } catch {
    // A reply that its own client could not read either.
    return undefined;
  }
}

function framingOf({ mediaType, bytes }: RecordedBody): StreamFraming | undefined {
  if (mediaType.includes('event-stream')) return 'sse';
  // A stream of generate-content without `alt=sse` is one array.
  return bytes.find((byte) => byte > 0x20) === 0x5b ? 'json-array' : undefined;
}

function readFrames(bytes: Buffer, framing: StreamFraming): readonly Frame[] {
  const frameBytesMax = bytes.length + 16;
  const reader: FrameReader = framing === 'sse' ? createSseFrameReader({ frameBytesMax }) : createJsonArrayFrameReader({ frameBytesMax });
  return [...reader.push(bytes), ...(framing === 'sse' ? reader.push(Buffer.from('\n\n')) : [])];
}

/** Folds a stream that may have been cut: its open blocks count as they are. */
function foldOpen(events: readonly InferenceEvent[]): InferenceReply {
  const open = new Set<number>();
  for (const event of events) {
    if (event.type === 'block-started') open.add(event.index);
    else if (event.type === 'block-ended') open.delete(event.index);
  }
  return foldEvents([...events, ...[...open].map((index) => ({ type: 'block-ended' as const, index }))]);
}
