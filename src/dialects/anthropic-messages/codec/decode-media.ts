import type { MediaPart, MediaSource, TextPart } from '../../../inference/inference-request.ts';
import { filledText, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** Joins the texts of a content array with line breaks. The caller handles other blocks. */
function joinTexts(content: readonly unknown[]): string {
  return content.flatMap((block) => (isJsonObject(block) && typeof block.text === 'string' ? [block.text] : [])).join('\n');
}

function decodeSource(source: JsonValue | undefined): MediaSource {
  if (!isJsonObject(source)) return { kind: 'text', text: '' };
  const { type, media_type: mediaType, data, url, file_id: fileId, content } = source;
  if (type === 'url') return { kind: 'url', url: textOf(url) ?? '' };
  if (type === 'file') return { kind: 'vendor-file', id: textOf(fileId) ?? '' };
  if (type === 'base64')
    return { kind: 'inline', mediaType: filledText(mediaType) ?? 'application/octet-stream', data: textOf(data) ?? '' };
  if (type === 'content')
    return { kind: 'text', text: typeof content === 'string' ? content : joinTexts(Array.isArray(content) ? content : []) };
  return { kind: 'text', text: textOf(data) ?? '' };
}

export function decodeImage(block: JsonObject, path: string): MediaPart {
  return { kind: 'media', media: 'image', source: decodeSource(block.source), path };
}

/** Reads a document, followed by the images in its content, because other dialects have no images in documents. */
export function decodeDocument(block: JsonObject, path: string): readonly MediaPart[] {
  const title = filledText(block.title);
  const context = filledText(block.context);
  const document: MediaPart = {
    kind: 'media',
    media: 'file',
    source: decodeSource(block.source),
    ...(title === undefined ? {} : { title }),
    ...(context === undefined ? {} : { context }),
    path,
  };
  const inner = isJsonObject(block.source) && Array.isArray(block.source.content) ? block.source.content : [];
  const images = inner.flatMap((item, index) =>
    isJsonObject(item) && item.type === 'image' ? [decodeImage(item, `${path}.source.content.${index}`)] : [],
  );
  return [document, ...images];
}

/** Reads a search result of the caller: a document whose context is its source. */
export function decodeSearchResult(block: JsonObject, path: string): MediaPart {
  const title = filledText(block.title);
  const source = filledText(block.source);
  return {
    kind: 'media',
    media: 'file',
    source: { kind: 'text', text: Array.isArray(block.content) ? joinTexts(block.content) : '' },
    ...(title === undefined ? {} : { title }),
    ...(source === undefined ? {} : { context: `Source: ${source}` }),
    path,
  };
}

/** Reads the content of a tool result: text and media. A reference to a tool becomes the tool's name. */
export function decodeResultContent(content: JsonValue | undefined, path: string): readonly (TextPart | MediaPart)[] {
  if (typeof content === 'string') return content === '' ? [] : [{ kind: 'text', text: content, path }];
  if (!Array.isArray(content)) return [];
  return content.flatMap((block: JsonValue, index) => (isJsonObject(block) ? decodeResultBlock(block, `${path}.${index}`) : []));
}

function decodeResultBlock(block: JsonObject, path: string): readonly (TextPart | MediaPart)[] {
  switch (textOf(block.type) ?? '') {
    case 'text': {
      const text = filledText(block.text);
      return text === undefined ? [] : [{ kind: 'text', text, path }];
    }
    case 'image':
      return [decodeImage(block, path)];
    case 'document':
      return decodeDocument(block, path);
    case 'search_result':
      return [decodeSearchResult(block, path)];
    case 'tool_reference':
      return [{ kind: 'text', text: textOf(block.tool_name) ?? '', path }];
    default:
      // The model gets any other content as JSON text.
      return [{ kind: 'text', text: JSON.stringify(block), path }];
  }
}
