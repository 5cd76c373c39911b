import { wordOf, type Fault } from '../faults.ts';
import { isRecord } from '../read-json.ts';
import type { Json, JsonRecord } from '../simulated-vendor.ts';
import type { WireReply } from '../wire-reply.ts';
import { codeOfLanguage } from './audio-language.ts';

/**
 * Changes the reply to a transcription into variants of real servers: without segments, with the duration as a string
 * or without it, the language as its code, subtitles as a JSON string, or none in them. All other replies stay
 * unchanged. Throws SteeringError for an unknown kind.
 */
export function applyAudioQuirk(wire: WireReply, fault: Fault): WireReply {
  const kind = wordOf(fault, 'kind', ['no-segments', 'string-duration', 'no-duration', 'language-code', 'quoted-text', 'empty-text']);
  const [body] = wire.pieces;
  if (wire.isStream || typeof body !== 'string') return wire;
  const isJson = String(wire.headers['content-type'] ?? '').startsWith('application/json');
  if (kind === 'quoted-text') {
    return isJson ? wire : { ...wire, headers: { ...wire.headers, 'content-type': 'application/json' }, pieces: [JSON.stringify(body)] };
  }
  if (kind === 'empty-text') return isJson ? wire : { ...wire, pieces: [''] };
  const json = isJson ? (JSON.parse(body) as Json) : null;
  return isRecord(json) ? { ...wire, pieces: [JSON.stringify(alter(json, kind))] } : wire;
}

function alter(json: JsonRecord, kind: 'no-segments' | 'string-duration' | 'no-duration' | 'language-code'): JsonRecord {
  const { segments: _segments, ...withoutSegments } = json;
  const { duration, ...withoutDuration } = json;
  const { language } = json;
  switch (kind) {
    case 'no-segments':
      return withoutSegments;
    case 'no-duration':
      return withoutDuration;
    case 'string-duration':
      return typeof duration === 'number' ? { ...json, duration: String(duration) } : json;
    case 'language-code':
      return typeof language === 'string' ? { ...json, language: codeOfLanguage(language) ?? language } : json;
  }
}
