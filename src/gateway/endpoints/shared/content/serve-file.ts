import type { IncomingMessage, ServerResponse } from 'node:http';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { Logger } from '../../../../platform/log.ts';
import { type ByteRange, type MediaStorage, MediaStorageError } from '../../../../tasks/media/media-storage.ts';
import type { StoredMedia } from '../../../../tasks/video-task.ts';
import { requestIdHeader } from '../../../replies/write-reply.ts';
import { cacheHeaders, type ContentKind, contentHeaders, entityTagOf } from './content-headers.ts';
import { isKnownTo, type SelectedRange, selectRange } from './select-range.ts';
import { writeContent } from './write-content.ts';

/** A file that somebody may have who asks for it. */
type ServedFile = { readonly id: string; readonly kind: ContentKind; readonly media: StoredMedia };

/** A request for a file, and where files are kept. */
export type FileContext = {
  readonly storage: Pick<MediaStorage, 'open'>;
  readonly logger: Logger;
  readonly request: Pick<IncomingMessage, 'method' | 'headers'>;
  readonly response: ServerResponse;
  readonly callId: string;
  /** Aborts when the client has left. */
  readonly signal: AbortSignal;
  /** How long a client may leave sent bytes unread. */
  readonly stalledReaderMs: number;
};

/**
 * Answers with a file, or the part of it that is asked for, at the pace at which it is read.
 * @throws GatewayError `range_not_satisfiable`, and `result_unavailable` where the storage does not give it
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
    throw new GatewayError('range_not_satisfiable', `the ${kind.noun} has ${media.bytes} bytes, and the range lies outside of them`, {
      headers: { 'content-range': `bytes */${media.bytes}` },
      param: 'Range',
    });
  await send(context, { id, kind, media }, selected);
}

function oneField(field: string | readonly string[] | undefined): string | undefined {
  return typeof field === 'string' ? field : field?.[0];
}

function lost(noun: string, cause?: unknown): GatewayError {
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
    if (error instanceof MediaStorageError) throw lost(kind.noun, error);
    throw error;
  });
  if (content === undefined) throw lost(kind.noun);
  response.writeHead(status, headers);
  const bytes = range === undefined ? media.bytes : range.end - range.start + 1;
  try {
    const end = await writeContent(response, content, bytes, { stalledReaderMs, signal });
    if (end === 'short') logger.error({ callId, key: media.key }, `the file of a ${kind.noun} is shorter than it was when it was stored`);
  } catch (error) {
    // The status has gone: a reply that is cut off is all that can still be said.
    logger.error({ callId, err: error }, `the file of a ${kind.noun} could not be sent to its end`);
  }
}

/** Aborts when the client has left. */
export function whenLeft(response: ServerResponse): AbortSignal {
  const left = new AbortController();
  response.once('close', () => left.abort());
  if (response.destroyed) left.abort();
  return left.signal;
}
