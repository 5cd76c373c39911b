import type { MediaPart, MediaSource } from '../../../inference/inference-request.ts';
import type { TranslationNotes } from '../../../inference/translation-notes.ts';
import { meaningOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

const imageTypes: Readonly<Record<string, string | undefined>> = {
  'image/jpeg': 'image/jpeg',
  'image/jpg': 'image/jpeg',
  'image/png': 'image/png',
  'image/gif': 'image/gif',
  'image/webp': 'image/webp',
};

const textTypes = /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml)$/;

const titleCharactersMax = 500;

/** Writes an image or a document. Refuses a part for which the vendor has no block, and names it. */
export function encodeMedia(part: MediaPart, notes: TranslationNotes): JsonObject {
  const refuse = (reason: string): never => notes.refuse({ path: part.path, otherwise: 'turns' }, reason);
  if (part.source.kind === 'vendor-file') return refuse('this file is stored by another vendor; send its content instead');
  switch (part.media) {
    case 'image':
      return { type: 'image', source: encodeImageSource(part.source, refuse) };
    case 'file':
      return { type: 'document', source: encodeDocumentSource(part.source, refuse), ...encodeDescription(part) };
    case 'audio':
    case 'video':
      return refuse(`the vendor of this model does not accept ${part.media}; choose a model that does`);
  }
}

type OwnSource = Exclude<MediaSource, { kind: 'vendor-file' }>;

const plainType = (mediaType: string): string => (mediaType.split(';')[0] ?? '').trim().toLowerCase();

function encodeImageSource(source: OwnSource, refuse: (reason: string) => never): JsonObject {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  if (source.kind === 'text') return refuse('an image cannot be sent as text');
  const type = plainType(source.mediaType);
  const mediaType = meaningOf(type, imageTypes);
  if (mediaType === undefined) return refuse(`images must be JPEG, PNG, GIF or WebP; got ${source.mediaType}`);
  return { type: 'base64', media_type: mediaType, data: source.data };
}

function encodeDocumentSource(source: OwnSource, refuse: (reason: string) => never): JsonObject {
  if (source.kind === 'url') return { type: 'url', url: source.url };
  if (source.kind === 'text') return { type: 'text', media_type: 'text/plain', data: source.text };
  const mediaType = plainType(source.mediaType);
  if (mediaType === 'application/pdf') return { type: 'base64', media_type: mediaType, data: source.data };
  if (!textTypes.test(mediaType)) return refuse(`documents must be PDF or text; got ${source.mediaType}`);
  return { type: 'text', media_type: 'text/plain', data: Buffer.from(source.data, 'base64').toString() };
}

function encodeDescription({ title, filename, context }: MediaPart): JsonObject {
  const named = (title ?? filename ?? '').slice(0, titleCharactersMax);
  return { ...(named === '' ? {} : { title: named }), ...(context === undefined || context === '' ? {} : { context }) };
}
