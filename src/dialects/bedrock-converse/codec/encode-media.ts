import type { MediaPart, MediaSource } from '../../../inference/inference-request.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { meaningOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { traitsOf } from './traits.ts';

/** Source: ImageFormat of the Bedrock API reference. */
const imageFormats: Readonly<Record<string, string | undefined>> = {
  'image/jpeg': 'jpeg',
  'image/jpg': 'jpeg',
  'image/png': 'png',
  'image/gif': 'gif',
  'image/webp': 'webp',
};

/** Source: VideoFormat. */
const videoFormats: Readonly<Record<string, string | undefined>> = {
  'video/mp4': 'mp4',
  'video/quicktime': 'mov',
  'video/webm': 'webm',
  'video/x-matroska': 'mkv',
  'video/x-flv': 'flv',
  'video/mpeg': 'mpeg',
  'video/x-ms-wmv': 'wmv',
  'video/3gpp': 'three_gp',
};

/** Source: DocumentFormat. */
const documentFormats: Readonly<Record<string, string | undefined>> = {
  'application/pdf': 'pdf',
  'text/csv': 'csv',
  'text/html': 'html',
  'text/markdown': 'md',
  'application/msword': 'doc',
  'application/vnd.openxmlformats-officedocument.wordprocessingml.document': 'docx',
  'application/vnd.ms-excel': 'xls',
  'application/vnd.openxmlformats-officedocument.spreadsheetml.sheet': 'xlsx',
};

/** Text of other types is sent as plain text. */
const textTypes = /^text\/|^application\/(?:[\w.-]+\+)?(?:json|xml|yaml|x-yaml|javascript|x-ndjson|toml)$/;

const documentNameMax = 200;

/** Names of documents in one request, which must differ. AWS permits letters, digits, single spaces and `-()[]`. */
export class DocumentNames {
  readonly #used = new Set<string>();

  take({ title, filename }: MediaPart): string {
    const said = (title ?? filename?.replace(/\.[A-Za-z0-9]{1,5}$/, '') ?? '').normalize('NFKD').replace(/\p{M}/gu, '');
    const fitted = said
      .replace(/[^A-Za-z0-9\s\-()[\]]+/g, ' ')
      .replace(/\s+/g, ' ')
      .trim()
      .slice(0, documentNameMax)
      .trim();
    const base = fitted === '' ? 'document' : fitted;
    let name = base;
    for (let number = 2; this.#used.has(name); number += 1) name = `${base} ${number}`;
    this.#used.add(name);
    return name;
  }
}

type MediaWriting = { readonly fit: RequestFit; readonly names: DocumentNames };

/** Writes an image, document or video. Refuses a part for which the model has no block, and names it. */
export function encodeMedia(part: MediaPart, { fit, names }: MediaWriting): JsonObject {
  const place = { path: part.path, otherwise: 'turns' } as const;
  const refuse = (reason: string): never => fit.notes.refuse(place, reason);
  const { source, media } = part;
  if (source.kind === 'vendor-file') return refuse('this file is stored by another vendor; send its content instead');
  if (source.kind === 'url') return refuse('AWS Bedrock fetches no addresses; send the content instead');
  if (!traitsOf(fit.traits).media.includes(media)) {
    const text = media === 'file' ? readText(source) : undefined;
    if (text === undefined)
      return refuse(`this model does not read ${media === 'file' ? 'documents' : plural(media)}; choose a model that does`);
    fit.notes.adapted(place, 'this model does not read documents; the text is sent as a text');
    return { text };
  }
  switch (media) {
    case 'image':
      return { image: { format: formatOf(source, imageFormats) ?? refuse('images must be JPEG, PNG, GIF or WebP'), ...bytesOf(source) } };
    case 'video':
      return { video: { format: formatOf(source, videoFormats) ?? refuse('this type of video is not accepted'), ...bytesOf(source) } };
    case 'audio':
      return refuse('Weir sends no audio to AWS Bedrock; choose another model');
    case 'file':
      return { document: encodeDocument(part, source, names, refuse) };
  }
}

type OwnSource = Extract<MediaSource, { kind: 'inline' | 'text' }>;

const plural = (media: 'image' | 'video' | 'audio'): string => (media === 'audio' ? 'audio' : `${media}s`);

const plainType = (mediaType: string): string => (mediaType.split(';')[0] ?? '').trim().toLowerCase();

function formatOf(source: OwnSource, formats: Readonly<Record<string, string | undefined>>): string | undefined {
  return source.kind === 'text' ? undefined : meaningOf(plainType(source.mediaType), formats);
}

function bytesOf(source: OwnSource): JsonObject {
  const bytes = source.kind === 'text' ? Buffer.from(source.text).toString('base64') : source.data;
  return { source: { bytes } };
}

function encodeDocument(part: MediaPart, source: OwnSource, names: DocumentNames, refuse: (reason: string) => never): JsonObject {
  const format = source.kind === 'text' ? 'txt' : (formatOf(source, documentFormats) ?? textFormat(source.mediaType));
  if (format === undefined)
    return refuse(
      `documents must be PDF, Word, Excel, CSV, HTML, Markdown or text; got ${source.kind === 'text' ? 'text' : source.mediaType}`,
    );
  const { context } = part;
  return { format, name: names.take(part), ...bytesOf(source), ...(context === undefined || context === '' ? {} : { context }) };
}

const textFormat = (mediaType: string): string | undefined => (textTypes.test(plainType(mediaType)) ? 'txt' : undefined);

/** The text of a document that is text. */
function readText(source: OwnSource): string | undefined {
  if (source.kind === 'text') return source.text;
  return textTypes.test(plainType(source.mediaType)) ? Buffer.from(source.data, 'base64').toString() : undefined;
}
