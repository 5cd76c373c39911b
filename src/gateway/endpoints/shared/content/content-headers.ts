import type { StoredMedia } from '../../../../tasks/video-task.ts';
import type { SelectedRange } from './select-range.ts';

/** A kind of files that are served. */
export type ContentKind = {
  readonly noun: 'video' | 'image';
  /** The media types that are sent as they are. A browser could execute others under the gateway's address. */
  readonly types: RegExp;
  readonly extensions: Readonly<Record<string, string>>;
  readonly otherExtension: string;
};

export const videoContent: ContentKind = {
  noun: 'video',
  types: /^video\/[a-z0-9][a-z0-9.+-]{0,63}$/,
  extensions: { 'video/mp4': 'mp4', 'video/webm': 'webm', 'video/quicktime': 'mov' },
  otherExtension: 'mp4',
};

/** SVG is not included, because it can contain programs. */
export const imageContent: ContentKind = {
  noun: 'image',
  types: /^image\/(?:png|jpeg|webp|gif|avif)$/,
  extensions: { 'image/png': 'png', 'image/jpeg': 'jpg', 'image/webp': 'webp', 'image/gif': 'gif', 'image/avif': 'avif' },
  otherExtension: 'bin',
};

/** The strong entity tag of a stored file: the hash of its content. */
export function entityTagOf({ sha256 }: Pick<StoredMedia, 'sha256'>): string {
  return `"${sha256}"`;
}

/** The header fields of a file, or of the selected part of it. */
export function contentHeaders(id: string, kind: ContentKind, media: StoredMedia, selected: SelectedRange): Record<string, string> {
  const type = media.mediaType.toLowerCase();
  const headers = {
    'content-type': kind.types.test(type) ? type : 'application/octet-stream',
    'content-disposition': `inline; filename="${id}.${kind.extensions[type] ?? kind.otherExtension}"`,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    ...cacheHeaders(media),
  };
  if (selected.type !== 'part') return { ...headers, 'content-length': String(media.bytes) };
  const { start, end } = selected.range;
  return { ...headers, 'content-length': String(end - start + 1), 'content-range': `bytes ${start}-${end}/${media.bytes}` };
}

/**
 * The headers for caches, also of a file that the client already has. No cache may store it: it belongs to one user and
 * may be deleted at any time. A client that stored it can compare the entity tag.
 */
export function cacheHeaders(media: StoredMedia): Record<string, string> {
  return { etag: entityTagOf(media), 'cache-control': 'private, no-store', vary: 'authorization, x-api-key, x-goog-api-key' };
}
