import type { MediaPart, Part, TextPart } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { writeDataUrl } from '../../data-url.ts';
import { audioFormatOf } from '../../openai-media.ts';

/** One thing that is said: text, which neighbours are joined with, or a part as the wire has it. */
type Piece = string | JsonObject;

const textBreak = '\n\n';

function refuseMedia(part: MediaPart, reason: string, notes: TranslationNotes): never {
  return notes.refuse({ path: part.path, otherwise: 'turns' }, reason);
}

function encodeImage(part: MediaPart, notes: TranslationNotes): JsonObject {
  const { source, detail } = part;
  if (source.kind === 'vendor-file')
    return refuseMedia(part, 'this file is kept by another vendor; send its content or its address instead', notes);
  if (source.kind === 'text') return refuseMedia(part, 'a picture cannot be given as text', notes);
  const url = source.kind === 'url' ? source.url : writeDataUrl(source);
  return { type: 'image_url', image_url: { url, ...(detail === undefined ? {} : { detail }) } };
}

function encodeAudio(part: MediaPart, notes: TranslationNotes): JsonObject {
  const { source } = part;
  if (source.kind !== 'inline')
    return refuseMedia(part, 'the upstream of this model takes no address of a sound; send its content instead', notes);
  const format = audioFormatOf(source.mediaType);
  if (format === undefined) return refuseMedia(part, `the upstream of this model takes wav and mp3, not ${source.mediaType}`, notes);
  return { type: 'input_audio', input_audio: { data: source.data, format } };
}

/** A document as text: its title and what is known about it come first, as the vendors that have such members show them to the model. */
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
      return refuseMedia(part, 'this file is kept by another vendor; send its content instead', notes);
    case 'url':
      return refuseMedia(part, 'the upstream of this model takes no address of a document; send its content instead', notes);
    case 'inline': {
      if (isPlainText(source.mediaType)) return documentText(part, Buffer.from(source.data, 'base64').toString());
      if (context !== undefined) notes.dropped({ path: part.path, otherwise: 'turns' }, 'the context of a document cannot be said here');
      const name = filename ?? title ?? (source.mediaType === 'application/pdf' ? 'document.pdf' : 'document');
      return { type: 'file', file: { filename: name, file_data: writeDataUrl(source) } };
    }
  }
}

/** Writes a picture, document or sound. Refuses, naming the part, what the dialect cannot carry. */
function encodeMedia(part: MediaPart, notes: TranslationNotes): Piece {
  switch (part.media) {
    case 'image':
      return encodeImage(part, notes);
    case 'audio':
      return encodeAudio(part, notes);
    case 'file':
      return encodeFile(part, notes);
    case 'video':
      return refuseMedia(part, 'the upstream of this model takes no film', notes);
  }
}

/** Leaves out or refuses what another dialect's vendor alone knows. */
export function refuseVendorPart(part: Extract<Part, { kind: 'vendor' | 'server-tool' }>, notes: TranslationNotes): void {
  const field = { path: part.path, otherwise: 'turns' } as const;
  if (part.kind === 'server-tool') notes.dropped(field, 'what a tool of the other vendor did cannot be shown to this one');
  else if (part.elsewhere === 'drop') notes.dropped(field, `${part.name} means nothing to the upstream of this model`);
  else notes.refuse(field, `${part.name} is known to its own vendor only, and the upstream of this model is another`);
}

/** What user content is fitted to: `isOwn` where the request was read from this dialect, whose own parts then go back as they were. */
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
 * Writes what a user says: one text where there is nothing but text, for many servers know no lists (DeepSeek among them), and a list of
 * parts otherwise. Undefined when nothing is left.
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

/** System text as one text. Undefined when nothing is left. */
export function joinSystemText(parts: readonly Part[], notes: TranslationNotes): string | undefined {
  const texts = parts.flatMap((part) => {
    if (part.kind === 'text') return part.text === '' ? [] : [part.text];
    if (part.kind === 'vendor' || part.kind === 'server-tool') refuseVendorPart(part, notes);
    else if (part.kind === 'media') notes.refuse({ path: part.path, otherwise: 'turns' }, 'system text holds nothing but text here');
    return [];
  });
  return texts.length === 0 ? undefined : texts.join(textBreak);
}

/** The text parts of a result, and the media that have to follow in a message of the user's. */
export function splitResult(content: readonly (TextPart | MediaPart)[]): {
  readonly media: readonly MediaPart[];
  readonly hasText: boolean;
} {
  return {
    media: content.filter((part): part is MediaPart => part.kind === 'media'),
    hasText: content.some((part) => part.kind === 'text' && part.text !== ''),
  };
}
