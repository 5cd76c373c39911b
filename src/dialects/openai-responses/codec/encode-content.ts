import type { MediaPart, TextPart, ToolResultPart } from '../../../inference/inference-request.ts';
import { resultText } from '../../../inference/tool-results.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import { meaningOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { writeDataUrl } from '../../data-url.ts';
import { audioFormatOf } from '../../openai-media.ts';

/** The kinds of parts of a user message. */
export type UserContent = TextPart | MediaPart;

/**
 * The context for writing the parts of a message. `isOwn`: they were read from this dialect, whose vendor has the
 * files.
 */
export type ContentWriting = { readonly notes: TranslationNotes; readonly isOwn: boolean };

function encodeImage(part: MediaPart, { notes, isOwn }: ContentWriting): JsonObject {
  const { source } = part;
  const detail = part.detail === undefined ? {} : { detail: part.detail };
  if (source.kind === 'inline') return { type: 'input_image', image_url: writeDataUrl(source), ...detail };
  if (source.kind === 'url') return { type: 'input_image', image_url: source.url, ...detail };
  if (source.kind === 'vendor-file' && isOwn) return { type: 'input_image', file_id: source.id, ...detail };
  return refuseSource(part, notes);
}

function refuseSource(part: MediaPart, notes: TranslationNotes): never {
  const reason =
    part.source.kind === 'vendor-file'
      ? 'this file is stored by another vendor; send its content or its address instead'
      : `${part.media} cannot be sent to this model in this form; send its content or its address instead`;
  return notes.refuse({ path: part.path, otherwise: 'turns' }, reason);
}

const extensions: Readonly<Record<string, string>> = {
  'application/pdf': 'pdf',
  'application/json': 'json',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
};

/** The vendor requires a name for every file and derives the type from it. */
function nameFile(part: MediaPart, mediaType: string): string {
  return part.filename ?? part.title ?? `document.${meaningOf(mediaType, extensions) ?? 'pdf'}`;
}

function encodeFile(part: MediaPart, { notes, isOwn }: ContentWriting): readonly JsonObject[] {
  const { source, title, context } = part;
  if (source.kind === 'text') {
    const text = [title ?? part.filename, context, source.text].filter((piece) => piece !== undefined && piece !== '').join('\n\n');
    return [{ type: 'input_text', text }];
  }
  const about: readonly JsonObject[] = context === undefined || context === '' ? [] : [{ type: 'input_text', text: context }];
  if (source.kind === 'inline') {
    const file = { filename: nameFile(part, source.mediaType), file_data: writeDataUrl(source) };
    return [...about, { type: 'input_file', ...file }];
  }
  if (source.kind === 'url') return [...about, { type: 'input_file', file_url: source.url }];
  if (source.kind === 'vendor-file' && isOwn) return [...about, { type: 'input_file', file_id: source.id }];
  return refuseSource(part, notes);
}

function encodeAudio(part: MediaPart, notes: TranslationNotes): JsonObject {
  const { source } = part;
  const format = source.kind === 'inline' ? audioFormatOf(source.mediaType) : undefined;
  if (source.kind !== 'inline' || format === undefined) {
    return notes.refuse({ path: part.path, otherwise: 'turns' }, 'this model accepts audio only as inline wav or mp3');
  }
  return { type: 'input_audio', input_audio: { data: source.data, format } };
}

/** Writes one part of a user message. Documents with text content become text. */
export function encodeUserPart(part: UserContent, writing: ContentWriting): readonly JsonObject[] {
  if (part.kind === 'text') return [{ type: 'input_text', text: part.text }];
  switch (part.media) {
    case 'image':
      return [encodeImage(part, writing)];
    case 'file':
      return encodeFile(part, writing);
    case 'audio':
      return [encodeAudio(part, writing.notes)];
    case 'video':
      return writing.notes.refuse({ path: part.path, otherwise: 'turns' }, 'this model takes no video; send single frames as images');
  }
}

type EncodedResult = {
  readonly output: string | readonly JsonObject[];
  /** Media that the result cannot contain. They follow the results in a user message. */
  readonly aside: readonly JsonObject[];
};

/** Writes the result of a call: a text if it has only text, otherwise a list of parts. */
export function encodeResult(part: ToolResultPart, mediaAllowed: boolean, writing: ContentWriting): EncodedResult {
  const media = part.content.filter((piece): piece is MediaPart => piece.kind === 'media');
  if (media.length === 0) return { output: resultText(part), aside: [] };
  const parts = media.flatMap((piece) => encodeUserPart(piece, writing));
  // No model accepts audio in a result.
  if (mediaAllowed && parts.every((piece) => piece.type !== 'input_audio')) {
    const all = part.content.flatMap((piece) => encodeUserPart(piece, writing));
    return { output: part.isError ? [{ type: 'input_text', text: 'Error: ' }, ...all] : all, aside: [] };
  }
  writing.notes.adapted(
    { path: part.path, otherwise: 'turns' },
    'images in the result of a tool follow in a user message: this model accepts only text there',
  );
  const text = resultText(part);
  return {
    output: text === '' ? 'The result follows in the next user message.' : text,
    aside: [{ type: 'input_text', text: `Returned by the tool call ${part.callId}:` }, ...parts],
  };
}
