import { filledText, membersOf, textOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import { parseIfJson } from '../../platform/json/parse-if-json.ts';
import type { UsageReport } from '../../inference/usage.ts';
import type { ErrorInReply } from '../chat-dialect.ts';
import { describeErrorInReply } from '../error-in-reply.ts';
import { readAudioUsage } from './audio-usage.ts';

/** The meaning of a stream event for the gateway. Its bytes are passed to the client in any case. */
export type AudioStreamEvent =
  /** A piece of audio or text, with its number of characters. Base64 of audio counts as 0. */
  | { readonly kind: 'delta'; readonly textCharacters: number }
  | { readonly kind: 'done'; readonly usage: UsageReport | undefined }
  | { readonly kind: 'error'; readonly error: ErrorInReply }
  | { readonly kind: 'other' };

/** Reads the payload of an event of `stream_format: sse` or `stream=true`. */
export function readAudioStreamEvent(data: string): AudioStreamEvent {
  if (data === '' || data === '[DONE]') return { kind: 'other' };
  const event = parseIfJson(data);
  if (!isJsonObject(event)) return { kind: 'other' };
  const error = event['error'];
  if (error !== undefined && error !== null) return readError(error, event);
  switch (textOf(event['type']) ?? '') {
    case 'speech.audio.delta':
      return { kind: 'delta', textCharacters: 0 };
    case 'transcript.text.delta':
      return { kind: 'delta', textCharacters: textOf(event['delta'])?.length ?? 0 };
    case 'transcript.text.segment':
      return { kind: 'delta', textCharacters: textOf(event['text'])?.length ?? 0 };
    case 'speech.audio.done':
      return { kind: 'done', usage: readAudioUsage(event['usage'], 'audio') };
    case 'transcript.text.done':
      return { kind: 'done', usage: readAudioUsage(event['usage'], 'text') };
    default:
      return { kind: 'other' };
  }
}

function readError(error: JsonValue, event: JsonObject): AudioStreamEvent {
  const members = membersOf(error);
  const message = filledText(members['message']) ?? (typeof error === 'string' ? error : 'no message');
  return { kind: 'error', error: describeErrorInReply(message, members, event) };
}
