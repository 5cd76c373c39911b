import type { MediaPart, MediaSource, Part } from '../../../inference/inference-request.ts';
import { filledText, membersOf, textOf, wordOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { readDataUrl } from '../../data-url.ts';
import { mediaTypeOfAudioFormat, readFileData, readMediaUrl } from '../../openai-media.ts';

/** Some clients write the address directly, without the vendor's object around it. */
const addressOf = (value: JsonValue | undefined): string | undefined => filledText(value) ?? filledText(membersOf(value).url);

function decodeImage(part: JsonObject, path: string): MediaPart | undefined {
  const url = addressOf(part.image_url);
  if (url === undefined) return undefined;
  const value = membersOf(part.image_url).detail;
  const detail = value === 'original' ? 'high' : wordOf(value, ['low', 'high', 'auto']);
  return { kind: 'media', media: 'image', source: readMediaUrl(url), path, ...(detail === undefined ? {} : { detail }) };
}

function decodeAudio(part: JsonObject, path: string): MediaPart | undefined {
  const { data, format } = membersOf(part.input_audio);
  const audio = filledText(data);
  if (audio === undefined) return undefined;
  const mediaType = mediaTypeOfAudioFormat(filledText(format) ?? 'wav');
  return { kind: 'media', media: 'audio', source: { kind: 'inline', mediaType, data: readDataUrl(audio)?.data ?? audio }, path };
}

function readFileSource(file: JsonObject): MediaSource | undefined {
  const data = filledText(file.file_data);
  const fileId = filledText(file.file_id);
  if (data === undefined) return fileId === undefined ? undefined : { kind: 'vendor-file', id: fileId };
  // OpenRouter accepts an address here; the vendor accepts plain base64 and a data URL.
  if (/^https?:/i.test(data)) return { kind: 'url', url: data };
  return readFileData(data, textOf(file.filename));
}

function decodeFile(part: JsonObject, path: string): MediaPart | undefined {
  const file = membersOf(part.file);
  const source = readFileSource(file);
  const filename = filledText(file.filename);
  return source && { kind: 'media', media: 'file', source, path, ...(filename === undefined ? {} : { filename }) };
}

function decodeFromUrl(media: MediaPart['media'], value: JsonValue | undefined, path: string): MediaPart | undefined {
  const url = addressOf(value);
  return url === undefined ? undefined : { kind: 'media', media, source: readMediaUrl(url), path };
}

function decodeKnownPart(part: JsonObject, path: string): Part | undefined {
  switch (textOf(part.type) ?? '') {
    case 'text':
    case 'input_text':
    case 'output_text': {
      const text = textOf(part.text);
      return text === undefined ? undefined : { kind: 'text', text, path };
    }
    case 'refusal':
      return { kind: 'refusal', text: textOf(part.refusal) ?? '', path };
    case 'image_url':
      return decodeImage(part, path);
    case 'input_audio':
      return decodeAudio(part, path);
    case 'file':
      return decodeFile(part, path);
    // vLLM and OpenRouter have these types besides the vendor's.
    case 'video_url':
      return decodeFromUrl('video', part.video_url, path);
    case 'audio_url':
      return decodeFromUrl('audio', part.audio_url, path);
    default:
      return undefined;
  }
}

/** Reads one content part. A part without a neutral equivalent becomes a vendor part. */
function decodeContentPart(part: JsonObject, path: string): Part {
  return decodeKnownPart(part, path) ?? { kind: 'vendor', name: textOf(part.type) ?? 'part', wire: part, elsewhere: 'refuse', path };
}

/** Reads the content of a message: a text, or a list of parts. An empty text is not a part. */
export function decodeContent(content: JsonValue | undefined, path: string): readonly Part[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, path }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((part, at) => (isJsonObject(part) ? [decodeContentPart(part, `${path}[${at}]`)] : []));
}
