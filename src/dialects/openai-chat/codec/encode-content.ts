import type { MediaPart, Part, TextPart } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { writeDataUrl } from '../../data-url.ts';
import { audioFormatOf } from '../../openai-media.ts';

/** Text, which is joined with adjacent texts, or a part in wire form. */
type Piece = string | JsonObject;

const textBreak = '\n\n';

function refuseMedia(part: MediaPart, reason: string, notes: TranslationNotes): never {
  return notes.refuse({ path: part.path, otherwise: 'turns' }, reason);
}

function encodeImage(part: MediaPart, notes: TranslationNotes): JsonObject {
  const { source, detail } = part;
  if (source.kind === 'vendor-file')
    return refuseMedia(part, 'this file is stored by another vendor; send its content or its address instead', notes);
  if (source.kind === 'text') return refuseMedia(part, 'an image cannot be sent as text', notes);
  const url = source.kind === 'url' ? source.url : writeDataUrl(source);
  return { type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } };
}

function encodeAudio(part: MediaPart, notes: TranslationNotes): JsonObject {
  const { source } = part;
  if (source.kind !== 'inline')
    return refuseMedia(part, 'the upstream of this model does not accept audio by address; send its content instead', notes);
  const format = audioFormatOf(source.mediaType);
  if (format === undefined)
    return refuseMedia(part, `the upstream of this model accepts audio as wav or mp3, not as ${source.mediaType}`, notes);
  return { type: 'input_audio', input_audio: { data: source.data, format } };
}

/** A document as text. Its title and context come first, as vendors with such members show them to the model. */
function documentText({ title, context, filename }: MediaPart, text: string): string {
  return [title ?? filename, context, text].filter((line) => line !== undefined && line !== '').join('\n');
}

const isPlainText = (mediaType: string): boolean => /^text\/(?:plain|markdown|csv)\b/i.test(mediaType);

function encodeFile(part: MediaPart, notes: TranslationNotes): Piece {
  const { source, filename, title, context } = part;
  switch (source.kind) {
    case 'text':
      return documentText(part, source.text);
    case 'vendor-file':
      return refuseMedia(part, 'this file is stored by another vendor; send its content instead', notes);
    case 'url':
      return refuseMedia(part, 'the upstream of this model does not accept documents by address; send the content instead', notes);
    case 'inline': {
      if (isPlainText(source.mediaType)) return documentText(part, Buffer.from(source.data, 'base64').toString());
      if (context !== undefined)
        notes.dropped({ path: part.path, otherwise: 'turns' }, 'the upstream of this model has no field for the context of a document');
      const name = filename ?? title ?? (source.mediaType === 'application/pdf' ? 'document.pdf' : 'document');
      return { type: 'file', file: { filename: name, file_data: writeDataUrl(source) } };
    }
  }
}

/** Writes an image, document or recording. Refuses, with its path, a part that the dialect does not support. */
function encodeMedia(part: MediaPart, notes: TranslationNotes): Piece {
  switch (part.media) {
    case 'image':
      return encodeImage(part, notes);
    case 'audio':
      return encodeAudio(part, notes);
    case 'file':
      return encodeFile(part, notes);
    case 'video':
      return refuseMedia(part, 'the upstream of this model does not accept video', notes);
  }
}

/** Omits or refuses parts that only another dialect's vendor supports. */
export function refuseVendorPart(part: Extract<Part, { kind: 'vendor' | 'server-tool' }>, notes: TranslationNotes): void {
  const field = { path: part.path, otherwise: 'turns' } as const;
  if (part.kind === 'server-tool') notes.dropped(field, "the activity of another vendor's tool cannot be replayed here");
  else if (part.elsewhere === 'drop') notes.dropped(field, `${part.name} means nothing to the upstream of this model`);
  else notes.refuse(field, `${part.name} is supported by one vendor only, and the upstream of this model is another`);
}

/**
 * The target of user content. `isOwn`: the request was read from this dialect, and its own parts are written back
 * unchanged.
 */
type ContentFit = { readonly notes: TranslationNotes; readonly isOwn: boolean };

function encodePiece(part: Part, { notes, isOwn }: ContentFit): readonly Piece[] {
  switch (part.kind) {
    case 'text':
    case 'refusal':
      return [part.text];
    case 'media':
      return [encodeMedia(part, notes)];
    case 'vendor':
    case 'server-tool':
      if (isOwn && part.kind === 'vendor') return [part.wire];
      refuseVendorPart(part, notes);
      return [];
    case 'reasoning':
    case 'tool-call':
    case 'tool-result':
      return [];
  }
}

/**
 * Writes the content of a user. Content with only text becomes one text, because many servers (DeepSeek among them) do
 * not accept lists; otherwise it is a list of parts. Undefined if nothing remains.
 */
export function encodeUserContent(parts: readonly Part[], fit: ContentFit): string | readonly JsonObject[] | undefined {
  const content: JsonObject[] = [];
  let texts: string[] = [];
  const flush = (): void => {
    if (texts.length > 0) content.push({ type: 'text', text: texts.join(textBreak) });
    texts = [];
  };
  for (const piece of parts.flatMap((part) => encodePiece(part, fit))) {
    if (typeof piece === 'string') {
      if (piece !== '') texts.push(piece);
      continue;
    }
    flush();
    content.push(piece);
  }
  if (content.length === 0) return texts.length === 0 ? undefined : texts.join(textBreak);
  flush();
  return content;
}

/** System text as one text. Undefined if nothing remains. */
export function joinSystemText(parts: readonly Part[], notes: TranslationNotes): string | undefined {
  const texts = parts.flatMap((part) => {
    if (part.kind === 'text') return part.text === '' ? [] : [part.text];
    if (part.kind === 'vendor' || part.kind === 'server-tool') refuseVendorPart(part, notes);
    else if (part.kind === 'media')
      notes.refuse({ path: part.path, otherwise: 'turns' }, 'system text of this upstream can only contain text');
    return [];
  });
  return texts.length === 0 ? undefined : texts.join(textBreak);
}

/** The text parts of a result, and the media that follow in a user message. */
export function splitResult(content: readonly (TextPart | MediaPart)[]): {
  readonly media: readonly MediaPart[];
  readonly hasText: boolean;
} {
  return {
    media: content.filter((part): part is MediaPart => part.kind === 'media'),
    hasText: content.some((part) => part.kind === 'text' && part.text !== ''),
  };
}
