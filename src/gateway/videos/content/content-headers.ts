import type { StoredMedia } from '../../../tasks/video-task.ts';
import type { SelectedRange } from './select-range.ts';

const secondsPerDay = 86_400;
/** What may be said to be the type of a video. Anything else could be run by a browser under the address of the gateway. */
const videoType = /^video\/[a-z0-9][a-z0-9.+-]{0,63}$/;
const extensions: Readonly<Record<string, string>> = { 'video/mp4': 'mp4', 'video/webm': 'webm', 'video/quicktime': 'mov' };

/** The strong entity tag of a stored file: its content's hash. */
export function entityTagOf({ sha256 }: Pick<StoredMedia, 'sha256'>): string {
  return `"${sha256}"`;
}

/**
 * The header fields of a file, or of the selected part of it. Only the owner's own cache may keep it, and no longer than the gateway does.
 * @param expiresAtMs when the file is deleted here; undefined where it is kept
 */
export function contentHeaders(
  id: string,
  media: StoredMedia,
  selected: SelectedRange,
  { expiresAtMs, nowMs }: { readonly expiresAtMs: number | undefined; readonly nowMs: number },
): Record<string, string> {
  const type = media.mediaType.toLowerCase();
  const headers = {
    'content-type': videoType.test(type) ? type : 'application/octet-stream',
    'content-disposition': `inline; filename="${id}.${extensions[type] ?? 'mp4'}"`,
    'accept-ranges': 'bytes',
    'x-content-type-options': 'nosniff',
    ...cacheHeaders(media, { expiresAtMs, nowMs }),
  };
  if (selected.type !== 'part') return { ...headers, 'content-length': String(media.bytes) };
  const { start, end } = selected.range;
  return { ...headers, 'content-length': String(end - start + 1), 'content-range': `bytes ${start}-${end}/${media.bytes}` };
}

/** What a client's cache has to know; also all that is said of a file that it has already. */
export function cacheHeaders(
  media: StoredMedia,
  { expiresAtMs, nowMs }: { readonly expiresAtMs: number | undefined; readonly nowMs: number },
): Record<string, string> {
  const kept = expiresAtMs === undefined ? secondsPerDay : Math.floor((expiresAtMs - nowMs) / 1000);
  const maxAge = Math.max(0, Math.min(secondsPerDay, kept));
  return { etag: entityTagOf(media), 'cache-control': `private, max-age=${maxAge}`, vary: 'authorization, x-api-key, x-goog-api-key' };
}
