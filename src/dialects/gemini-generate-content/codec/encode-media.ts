import type { MediaPart, MediaSource } from '../../../inference/inference-request.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';

/**
 * Writes a medium that no vendor stores. Text documents are sent as files, so that they stay separate from the
 * conversation.
 */
export function encodeSource(source: Exclude<MediaSource, { kind: 'vendor-file' }>): JsonObject {
  switch (source.kind) {
    case 'inline':
      return { inlineData: { mimeType: source.mediaType, data: source.data } };
    case 'text':
      return { inlineData: { mimeType: 'text/plain', data: Buffer.from(source.text).toString('base64') } };
    case 'url':
      return { fileData: { ...(source.mediaType === undefined ? {} : { mimeType: source.mediaType }), fileUri: source.url } };
  }
}

/** Writes a medium of a request as parts. Title and context of a document come before it. */
export function encodeMedia(part: MediaPart, { traits, notes }: RequestFit): readonly JsonObject[] {
  const place = { path: part.path, otherwise: 'turns' } as const;
  const { source, title, context } = part;
  if (source.kind === 'vendor-file') {
    return notes.refuse(place, 'this file is stored by another vendor; send its content instead');
  }
  if (source.kind === 'url' && !traits.fetchesUrls) {
    return notes.refuse(place, 'the upstream of this model does not accept addresses; send its content instead');
  }
  const about = [...(title === undefined ? [] : [`Title: ${title}`]), ...(context === undefined ? [] : [`Context: ${context}`])];
  if (about.length > 0) notes.adapted(place, 'title and context of the document are sent as text before it');
  return [...(about.length > 0 ? [{ text: about.join('\n') }] : []), encodeSource(source)];
}

/** Chooses the one resolution for all images of a request. Undefined if it is the default. */
export function encodeResolution(images: readonly MediaPart[], { notes }: RequestFit): string | undefined {
  const details = images.map((image) => image.detail ?? 'auto');
  const resolution = details.includes('high') ? 'MEDIA_RESOLUTION_HIGH' : details.includes('low') ? 'MEDIA_RESOLUTION_LOW' : undefined;
  if (resolution === undefined || details.every((detail) => detail === details[0])) return resolution;
  const differing = images.find((image) => image.detail !== images[0]?.detail);
  notes.adapted({ path: differing?.path, otherwise: 'turns' }, 'this model examines all images with one resolution');
  // A requested detail is kept for all; a reduction that only some images request is not applied.
  return details.includes('high') ? resolution : undefined;
}
