import type { MediaPart, MediaSource, Part, TextPart } from '../../../inference/inference-request.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { decodeAnnotation } from './citations.ts';

type Inline = { readonly mediaType: string; readonly data: string };

/** Takes a data URL apart. Undefined for what is none. Data that is not base64 becomes so. */
function readDataUrl(url: string): Inline | undefined {
  const comma = url.indexOf(',');
  if (comma === -1 || url.slice(0, 5).toLowerCase() !== 'data:') return undefined;
  const [mediaType = '', ...attributes] = url.slice(5, comma).split(';');
  const data = url.slice(comma + 1);
  const isBase64 = attributes.some((attribute) => attribute.trim().toLowerCase() === 'base64');
  return {
    mediaType: mediaType === '' ? 'text/plain' : mediaType.toLowerCase(),
    data: isBase64 ? data : Buffer.from(unescapeUrl(data)).toString('base64'),
  };
}

function unescapeUrl(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

const sourceOfUrl = (url: string): MediaSource => {
  const inline = readDataUrl(url);
  return inline === undefined ? { kind: 'url', url } : { kind: 'inline', ...inline };
};

const detailWords = { low: 'low', high: 'high', auto: 'auto', original: 'high' } as const;

function decodeImage(part: JsonObject, path: string): MediaPart | undefined {
  const url = filledText(part.image_url);
  const fileId = filledText(part.file_id);
  const source: MediaSource | undefined =
    url !== undefined ? sourceOfUrl(url) : fileId !== undefined ? { kind: 'vendor-file', id: fileId } : undefined;
  if (source === undefined) return undefined;
  const word = textOf(part.detail);
  const detail = word !== undefined && Object.hasOwn(detailWords, word) ? detailWords[word as keyof typeof detailWords] : undefined;
  return { kind: 'media', media: 'image', source, path, ...(detail === undefined ? {} : { detail }) };
}

const mediaTypeByExtension: Readonly<Record<string, string>> = {
  pdf: 'application/pdf',
  txt: 'text/plain',
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
};

function guessMediaType(filename: string | undefined): string {
  const extension = filename?.slice(filename.lastIndexOf('.') + 1).toLowerCase() ?? '';
  return (Object.hasOwn(mediaTypeByExtension, extension) ? mediaTypeByExtension[extension] : undefined) ?? 'application/pdf';
}

function readFileSource(part: JsonObject): MediaSource | undefined {
  const data = filledText(part.file_data);
  const url = filledText(part.file_url);
  const fileId = filledText(part.file_id);
  if (data !== undefined) {
    const inline = readDataUrl(data) ?? { mediaType: guessMediaType(textOf(part.filename)), data };
    // Every dialect can say a plain text; few take it as a file.
    if (inline.mediaType === 'text/plain') return { kind: 'text', text: Buffer.from(inline.data, 'base64').toString() };
    return { kind: 'inline', ...inline };
  }
  if (url !== undefined) return sourceOfUrl(url);
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
  const format = textOf(audio.format) ?? 'wav';
  return data === undefined
    ? undefined
    : {
        kind: 'media',
        media: 'audio',
        source: { kind: 'inline', mediaType: format === 'mp3' ? 'audio/mpeg' : `audio/${format}`, data },
        path,
      };
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

/** Reads one content part of a message or of a tool's result. What has no neutral name becomes a vendor part. */
export function decodeContentPart(part: JsonObject, path: string): Part {
  return decodeKnownPart(part, path) ?? { kind: 'vendor', name: textOf(part.type) ?? 'part', wire: part, elsewhere: 'refuse', path };
}

/** Reads the content of a message or of a tool's result: a text, or a list of parts. */
export function decodeContent(content: JsonValue | undefined, path: string): readonly Part[] {
  if (typeof content === 'string') return [{ kind: 'text', text: content, path }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, at) => (isJsonObject(part) ? [decodeContentPart(part, `${path}[${at}]`)] : []));
}
