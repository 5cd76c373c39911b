import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { Logger } from '../../../../platform/log.ts';
import { type ByteRange, type MediaStorage, MediaStorageError } from '../../../../tasks/media/media-storage.ts';
import type { StoredMedia } from '../../../../tasks/video-task.ts';
import { requestIdHeader } from '../../../replies/write-reply.ts';
import { type SelectedRange, isKnownTo, selectRange } from '../../../../tasks/media/select-range.ts';
import { writeContent } from './write-content.ts';

/** A file that the client may read. */
type ServedFile = { readonly id: string; readonly kind: ContentKind; readonly media: StoredMedia };

/** A request for a file, and the storage of files. */
export type FileContext = {
  readonly storage: Pick<MediaStorage, 'open'>;
  readonly logger: Logger;
  readonly request: Pick<IncomingMessage, 'method' | 'headers'>;
  readonly response: ServerResponse;
  readonly callId: string;
  /** Aborts when the client disconnects. */
  readonly signal: AbortSignal;
  /** How long a client may leave sent bytes unread. */
  readonly stalledReaderMs: number;
};

/**
 * Answers with a file or the requested part of it, at the pace of the client.
 * @throws GatewayError `range_not_satisfiable`, and `result_unavailable` if the storage cannot read it
 */
export async function serveFile(context: FileContext, { id, kind, media }: ServedFile): Promise<void> {
  const { request, response, callId } = context;
  const entityTag = entityTagOf(media);
  const { headers } = request;
  if (isKnownTo(headers['if-none-match'], entityTag)) {
    response.writeHead(304, { ...cacheHeaders(media), [requestIdHeader]: callId });
    response.end();
    return;
  }
  const selected = selectRange(headers.range, { ifRange: oneField(headers['if-range']), entityTag, bytes: media.bytes });
  if (selected.type === 'unsatisfiable')
    throw new GatewayError('range_not_satisfiable', `the ${kind.noun} has ${media.bytes} bytes, and the range is outside of them`, {
      headers: { 'content-range': `bytes */${media.bytes}` },
      param: 'Range',
    });
  await send(context, { id, kind, media }, selected);
}

function oneField(field: string | readonly string[] | undefined): string | undefined {
  return typeof field === 'string' ? field : field?.[0];
}

function unavailable(noun: string, cause?: unknown): GatewayError {
  return new GatewayError('result_unavailable', `The file of this ${noun} cannot be read at the moment.`, {
    cause,
    internal: 'media storage',
  });
}

async function send(context: FileContext, { id, kind, media }: ServedFile, selected: SelectedRange): Promise<void> {
  const { storage, logger, request, response, callId, signal, stalledReaderMs } = context;
  const headers = { ...contentHeaders(id, kind, media, selected), [requestIdHeader]: callId };
  const range: ByteRange | undefined = selected.type === 'part' ? selected.range : undefined;
  const status = range === undefined ? 200 : 206;
  if (request.method === 'HEAD') {
    response.writeHead(status, headers);
    response.end();
    return;
  }
  const content = await storage.open(media.key, range, signal).catch((error: unknown) => {
    if (error instanceof MediaStorageError) throw unavailable(kind.noun, error);
    throw error;
  });
  if (content === undefined) throw unavailable(kind.noun);
  response.writeHead(status, headers);
  const bytes = range === undefined ? media.bytes : range.end - range.start + 1;
  try {
    const end = await writeContent(response, content, bytes, { stalledReaderMs, signal });
    if (end === 'short') logger.error({ callId, mediaKey: media.key }, 'stored file shorter than recorded');
  } catch (error) {
    // The status is sent, so the reply can only be cut off.
    logger.error({ callId, mediaKey: media.key, err: error }, 'sending a stored file failed');
  }
}

/** Aborts when the client disconnects. */
export function disconnectSignal(response: ServerResponse): AbortSignal {
  const disconnected = new AbortController();
  response.once('close', () => disconnected.abort());
  if (response.destroyed) disconnected.abort();
  return disconnected.signal;
}

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
function entityTagOf({ sha256 }: Pick<StoredMedia, 'sha256'>): string {
  return `"${sha256}"`;
}

/** The header fields of a file, or of the selected part of it. */
function contentHeaders(id: string, kind: ContentKind, media: StoredMedia, selected: SelectedRange): Record<string, string> {
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
function cacheHeaders(media: StoredMedia): Record<string, string> {
  return { etag: entityTagOf(media), 'cache-control': 'private, no-store', vary: 'authorization, x-api-key, x-goog-api-key' };
}
