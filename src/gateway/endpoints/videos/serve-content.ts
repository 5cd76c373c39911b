import { GatewayError } from '../../../inference/gateway-error.ts';
import { siblingId } from '../../../platform/ids.ts';
import type { ByteRange } from '../../../tasks/media/media-storage.ts';
import { MediaStorageError } from '../../../tasks/media/media-storage.ts';
import type { StoredMedia, VideoTask } from '../../../tasks/video-task.ts';
import { requestIdHeader } from '../../replies/reply-headers.ts';
import { cacheHeaders, contentHeaders, entityTagOf } from './content/content-headers.ts';
import { isKnownTo, type SelectedRange, selectRange } from './content/select-range.ts';
import { writeContent } from './content/write-content.ts';
import { type ContentContext, statusOf, unknownVideo } from './video-context.ts';

/** A file that is there by what is known of it. @throws GatewayError where the task has none */
function mediaOf(task: VideoTask, nowMs: number): StoredMedia {
  const status = statusOf(task);
  // A video that failed has no content, and never will have: there is nothing at this address.
  if (status === 'failed') {
    const { code, message } = task.error ?? { code: 'upstream_failed', message: 'no reason is known' };
    throw new GatewayError('result_unavailable', `This video failed and has no content. ${code}: ${message}`, { status: 404 });
  }
  if (status !== 'completed')
    throw new GatewayError('task_not_finished', `The video is not completed yet; its status is ${status}.`, {
      param: 'id',
      retryAfterSeconds: 5,
    });
  const isExpired = task.expiresAtMs !== undefined && task.expiresAtMs <= nowMs;
  if (task.media === undefined || isExpired)
    throw new GatewayError('result_unavailable', 'The file of this video has expired and was deleted.', { status: 410 });
  return task.media;
}

/** The task, or why there is none: what was deleted is known to its user by the books. */
async function findContentTask(context: ContentContext, id: string): Promise<VideoTask> {
  const { videos, caller } = context;
  const task = await videos.tasks.find(caller.userName, id);
  if (task !== undefined) return task;
  const callId = siblingId(id, 'req');
  const entry = callId === undefined ? undefined : await videos.ledger.findEntry(callId);
  if (callId === undefined || entry?.userName !== caller.userName) throw unknownVideo(id);
  const message = `This video was deleted, and its file with it. Its receipt is at /v1/receipts/${callId}.`;
  throw new GatewayError('result_unavailable', message, { status: 410 });
}

/** @throws GatewayError `invalid_value` */
function checkVariant(query: URLSearchParams): void {
  const variant = query.get('variant');
  if (variant === null || variant === 'video') return;
  throw new GatewayError('invalid_value', `variant: there is only "video" here, not ${JSON.stringify(variant.slice(0, 40))}`, {
    param: 'variant',
  });
}

function oneField(field: string | readonly string[] | undefined): string | undefined {
  return typeof field === 'string' ? field : field?.[0];
}

/** Answers with the file of a video, or the part of it that is asked for, at the pace at which it is read. */
export async function serveContent(context: ContentContext, id: string): Promise<undefined> {
  const { gateway, request, response, callId, query } = context;
  const task = await findContentTask(context, id);
  checkVariant(query);
  const media = mediaOf(task, gateway.clock.nowMs());
  const entityTag = entityTagOf(media);
  const { headers } = request;
  if (isKnownTo(headers['if-none-match'], entityTag)) {
    response.writeHead(304, { ...cacheHeaders(media), [requestIdHeader]: callId });
    response.end();
    return undefined;
  }
  const selected = selectRange(headers.range, { ifRange: oneField(headers['if-range']), entityTag, bytes: media.bytes });
  if (selected.type === 'unsatisfiable')
    throw new GatewayError('range_not_satisfiable', `the video has ${media.bytes} bytes, and the range lies outside of them`, {
      headers: { 'content-range': `bytes */${media.bytes}` },
      param: 'Range',
    });
  await send(context, media, selected, { ...contentHeaders(task.id, media, selected), [requestIdHeader]: callId });
  return undefined;
}

function lost(cause?: unknown): GatewayError {
  return new GatewayError('result_unavailable', 'The file of this video cannot be read at the moment.', {
    cause,
    internal: 'media storage',
  });
}

async function send(context: ContentContext, media: StoredMedia, selected: SelectedRange, headers: Record<string, string>): Promise<void> {
  const { gateway, videos, request, response, callId, signal, settings } = context;
  const range: ByteRange | undefined = selected.type === 'part' ? selected.range : undefined;
  if (request.method === 'HEAD') {
    response.writeHead(range === undefined ? 200 : 206, headers);
    response.end();
    return;
  }
  const content = await videos.storage.open(media.key, range, signal).catch((error: unknown) => {
    if (error instanceof MediaStorageError) throw lost(error);
    throw error;
  });
  if (content === undefined) throw lost();
  response.writeHead(range === undefined ? 200 : 206, headers);
  const bytes = range === undefined ? media.bytes : range.end - range.start + 1;
  const { stalledReaderMs } = settings.timeouts;
  try {
    const end = await writeContent(response, content, bytes, { stalledReaderMs, signal });
    if (end === 'short') gateway.logger.error({ callId, key: media.key }, 'the file of a video is shorter than it was when it was stored');
  } catch (error) {
    // The status has gone: a reply that is cut off is all that can still be said.
    gateway.logger.error({ callId, err: error }, 'the file of a video could not be sent to its end');
  }
}
