import type { MediaKind, MediaPart, MediaSource } from '../../../inference/inference-request.ts';
import { filledText, meaningOf, objectOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** The field that sets the resolution for all media of a request. */
export const resolutionPath = 'generationConfig.mediaResolution';

type Detail = 'low' | 'high';

const details: Readonly<Record<string, Detail>> = {
  MEDIA_RESOLUTION_LOW: 'low',
  MEDIA_RESOLUTION_HIGH: 'high',
  MEDIA_RESOLUTION_ULTRA_HIGH: 'high',
};

/** Reads a media resolution. Undefined for the default and for levels without a neutral name. */
export const decodeResolution = (value: unknown): Detail | undefined => meaningOf(value, details);

function kindOf(mediaType: string): MediaKind {
  const kind = mediaType.split('/')[0]?.toLowerCase();
  return kind === 'image' || kind === 'audio' || kind === 'video' ? kind : 'file';
}

/** Writes standard base64 with padding: clients may send the URL-safe alphabet, which other vendors refuse. */
function standardBase64(data: string): string {
  const standard = /[-_]/.test(data) ? data.replaceAll('-', '+').replaceAll('_', '/') : data;
  return standard.length % 4 === 0 ? standard : standard.replace(/=+$/, '').padEnd(Math.ceil(standard.length / 4) * 4, '=');
}

/**
 * Reads an address. Public addresses stay addresses; files of the vendor's own service and storage are useless
 * elsewhere.
 */
function readUri(uri: string, mediaType: string | undefined): MediaSource {
  const typed = mediaType === undefined ? {} : { mediaType };
  const isVendors = !/^https?:\/\//i.test(uri) || /^https:\/\/generativelanguage\.googleapis\.com\//i.test(uri);
  return isVendors ? { kind: 'vendor-file', id: uri, ...typed } : { kind: 'url', url: uri, ...typed };
}

/** Reads the medium of a part: `inlineData` or `fileData`. Undefined if it has none. */
export function decodeMedia(part: JsonObject, detail?: Detail): MediaPart | undefined {
  const inline = objectOf(part.inlineData);
  const file = objectOf(part.fileData);
  const holder = inline ?? file;
  if (holder === undefined) return undefined;
  const mediaType = filledText(holder.mimeType);
  const filename = filledText(holder.displayName);
  const media = mediaType === undefined ? 'file' : kindOf(mediaType);
  const own = decodeResolution(objectOf(part.mediaResolution)?.level);
  const closeness = own ?? detail;
  const source: MediaSource =
    inline === undefined
      ? readUri(textOf(holder.fileUri) ?? '', mediaType)
      : { kind: 'inline', mediaType: mediaType ?? 'application/octet-stream', data: standardBase64(textOf(inline.data) ?? '') };
  return {
    kind: 'media',
    media,
    source,
    ...(filename === undefined ? {} : { filename }),
    ...(media === 'image' && closeness !== undefined ? { detail: closeness } : {}),
    ...(media === 'image' && own === undefined && detail !== undefined ? { detailPath: resolutionPath } : {}),
  };
}
