import type { MediaPart, MediaSource, Part, TextPart } from '../../../inference/inference-request.ts';
import { filledText, meaningOf, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { mediaTypeOfAudioFormat, readFileData, readMediaUrl } from '../../openai-media.ts';
import { decodeAnnotation } from './citations.ts';

const detailWords = { low: 'low', high: 'high', auto: 'auto', original: 'high' } as const;

function decodeImage(part: JsonObject, path: string): MediaPart | undefined {
  const url = filledText(part.image_url);
  const fileId = filledText(part.file_id);
  const source: MediaSource | undefined =
    url !== undefined ? readMediaUrl(url) : fileId !== undefined ? { kind: 'vendor-file', id: fileId } : undefined;
  if (source === undefined) return undefined;
  const detail = meaningOf(part.detail, detailWords);
  return { kind: 'media', media: 'image', source, path, ...(detail === undefined ? {} : { detail }) };
}

function readFileSource(part: JsonObject): MediaSource | undefined {
  const data = filledText(part.file_data);
  const url = filledText(part.file_url);
  const fileId = filledText(part.file_id);
  if (data !== undefined) return readFileData(data, textOf(part.filename));
  if (url !== undefined) return readMediaUrl(url);
  return fileId === undefined ? undefined : { kind: 'vendor-file', id: fileId };
}

function decodeFile(part: JsonObject, path: string): MediaPart | undefined {
  const source = readFileSource(part);
  const filename = filledText(part.filename);
  return source && { kind: 'media', media: 'file', source, path, ...(filename === undefined ? {} : { filename }) };
}

function decodeAudio(part: JsonObject, path: string): MediaPart | undefined {
  const audio = membersOf(part.input_audio);
  const data = filledText(audio.data);
  if (data === undefined) return undefined;
  const mediaType = mediaTypeOfAudioFormat(filledText(audio.format) ?? 'wav');
  return { kind: 'media', media: 'audio', source: { kind: 'inline', mediaType, data }, path };
}

function decodeText(part: JsonObject, path: string): TextPart | undefined {
  const text = textOf(part.text);
  if (text === undefined) return undefined;
  const citations = objectsOf(part.annotations).flatMap((annotation) => decodeAnnotation(annotation) ?? []);
  return { kind: 'text', text, path, ...(citations.length === 0 ? {} : { citations }) };
}

function decodeKnownPart(part: JsonObject, path: string): Part | undefined {
  switch (textOf(part.type) ?? '') {
    case 'input_text':
    case 'output_text':
    case 'text':
      return decodeText(part, path);
    case 'refusal':
      return { kind: 'refusal', text: textOf(part.refusal) ?? '', path };
    case 'input_image':
      return decodeImage(part, path);
    case 'input_file':
      return decodeFile(part, path);
    case 'input_audio':
      return decodeAudio(part, path);
    default:
      return undefined;
  }
}

/**
 * Reads one content part of a message or of a tool result. A part without a neutral equivalent becomes a vendor part.
 */
export function decodeContentPart(part: JsonObject, path: string): Part {
  return decodeKnownPart(part, path) ?? { kind: 'vendor', name: textOf(part.type) ?? 'part', wire: part, elsewhere: 'refuse', path };
}

/** Reads the content of a message or of a tool result: a text, or a list of parts. */
export function decodeContent(content: JsonValue | undefined, path: string): readonly Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, path }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, at) => (isJsonObject(part) ? [decodeContentPart(part, `${path}[${at}]`)] : []));
}
