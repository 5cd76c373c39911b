import { GatewayError } from '../../../inference/gateway-error.ts';
import { siblingId } from '../../../platform/ids.ts';
import type { StoredMedia, VideoTask } from '../../../tasks/video-task.ts';
import { serveFile, videoContent } from '../shared/content/serve-file.ts';
import { type ContentContext, statusOf, unknownVideo } from './video-context.ts';

/** The stored file of a task. @throws GatewayError if it has none */
function mediaOf(task: VideoTask, nowMs: number): StoredMedia {
  const status = statusOf(task);
  // A failed video never gets content.
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

/** The task. If it was deleted, the books still show it to its user. @throws GatewayError */
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
  throw new GatewayError('invalid_value', `variant: must be "video", not ${JSON.stringify(variant.slice(0, 40))}`, {
    param: 'variant',
  });
}

/** Sends the file of a video, or the requested range, at the client's pace. */
export async function serveContent(context: ContentContext, id: string): Promise<undefined> {
  const { gateway, videos, settings, query } = context;
  const task = await findContentTask(context, id);
  checkVariant(query);
  const media = mediaOf(task, gateway.clock.nowMs());
  const { stalledReaderMs } = settings.timeouts;
  await serveFile(
    { ...context, storage: videos.storage, logger: gateway.logger, stalledReaderMs },
    { id: task.id, kind: videoContent, media },
  );
  return undefined;
}
