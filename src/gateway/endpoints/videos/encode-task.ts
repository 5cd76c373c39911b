import { encodeCreatedVideo, encodeVideoTask, type VideoTaskView } from '../../../dialects/video-tasks/encode-video-task.ts';
import type { VideoTask } from '../../../tasks/video-task.ts';
import { statusOf, type VideoAnswer, type VideoContext } from './video-context.ts';

/** The `retry-after` of an open task: about the interval at which the upstream is polled. */
const pollAfterSeconds = 5;
const openHeaders = { 'retry-after': String(pollAfterSeconds), 'openai-poll-after-ms': String(pollAfterSeconds * 1000) };

const toSeconds = (ms: number): number => Math.floor(ms / 1000);

/** The requested duration, or the actual one if it differs: a video of 5.04 seconds is one of 5. */
function shownSeconds(askedSeconds: number | undefined, durationMs: number | undefined): number | undefined {
  if (durationMs === undefined) return askedSeconds;
  const seconds = durationMs / 1000;
  return askedSeconds !== undefined && Math.abs(seconds - askedSeconds) < 0.5 ? askedSeconds : Math.round(seconds * 10) / 10;
}

/** The parts of a request that a shown task needs. */
type ViewContext = Pick<VideoContext, 'gateway' | 'videos' | 'settings' | 'baseUrl'>;

/**
 * The URL of the file: it requires a key of the owner, or is a link that works for a day without one. Clients of xAI's
 * interface always get a link, because they download the URL without a key.
 */
function contentUrl({ gateway, videos, settings, baseUrl }: ViewContext, task: VideoTask): string {
  const url = `${baseUrl}/v1/videos/${task.id}/content`;
  const isLinked = task.form === 'xai-videos' || settings.videos.signedLinks;
  return isLinked ? `${url}?${videos.links.sign(task, gateway.clock.nowMs())}` : url;
}

/** A task in the form of its client. @throws GatewayError if the stored request cannot be read */
export function viewTask(context: ViewContext, task: VideoTask): VideoTaskView {
  const { videos } = context;
  const request = videos.tasks.openRequest(task);
  const status = statusOf(task);
  const seconds = shownSeconds(request.durationSeconds, task.durationMs);
  return {
    id: task.id,
    form: task.form,
    model: task.requestedModel,
    status,
    progress: task.progress,
    createdAt: toSeconds(task.createdAtMs),
    ...(task.endedAtMs === undefined ? {} : { completedAt: toSeconds(task.endedAtMs) }),
    ...(task.expiresAtMs === undefined ? {} : { expiresAt: toSeconds(task.expiresAtMs) }),
    prompt: request.prompt,
    metadata: request.metadata,
    ...(seconds === undefined ? {} : { seconds }),
    ...(request.resolution === undefined ? {} : { resolution: request.resolution }),
    ...(request.aspectRatio === undefined ? {} : { aspectRatio: request.aspectRatio }),
    ...(status === 'completed' ? { url: contentUrl(context, task) } : {}),
    ...(task.error === undefined ? {} : { error: task.error }),
    ...(task.remixedFrom === undefined ? {} : { remixedFrom: task.remixedFrom }),
  };
}

/** The answer to `GET` of a task, in the form of the request that created it. */
export function encodeTask(context: ViewContext, task: VideoTask): VideoAnswer {
  const { status, body } = encodeVideoTask(viewTask(context, task));
  const isOpen = task.phase !== 'completed' && task.phase !== 'failed';
  return { status, text: body.toString('utf8'), headers: { 'cache-control': 'no-store', ...(isOpen ? openHeaders : {}) } };
}

/** The answer to the request that created a task. */
export function encodeCreated(context: ViewContext, task: VideoTask): VideoAnswer {
  const { status, body } = encodeCreatedVideo(viewTask(context, task));
  return { status, text: body.toString('utf8'), headers: { 'cache-control': 'no-store', ...openHeaders } };
}
