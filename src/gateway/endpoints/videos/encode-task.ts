import { encodeCreatedVideo, encodeVideoTask, type VideoTaskView } from '../../../dialects/video-tasks/encode-video-task.ts';
import type { VideoTask } from '../../../tasks/video-task.ts';
import { statusOf, type VideoAnswer, type VideoContext } from './video-context.ts';

/** How soon it is worth asking again, for clients that listen: about as often as the upstream is asked. */
const pollAfterSeconds = 5;
const openHeaders = { 'retry-after': String(pollAfterSeconds), 'openai-poll-after-ms': String(pollAfterSeconds * 1000) };

const toSeconds = (ms: number): number => Math.floor(ms / 1000);

/** The length as it was asked for, or as it came out where that is another one: a video of 5.04 seconds is one of 5. */
function shownSeconds(askedSeconds: number | undefined, durationMs: number | undefined): number | undefined {
  if (durationMs === undefined) return askedSeconds;
  const seconds = durationMs / 1000;
  return askedSeconds !== undefined && Math.abs(seconds - askedSeconds) < 0.5 ? askedSeconds : Math.round(seconds * 10) / 10;
}

/** What of a request it takes to show a task. */
type ViewContext = Pick<VideoContext, 'gateway' | 'videos' | 'settings' | 'baseUrl'>;

/**
 * Where the file of a video is to be had: with a key of its owner, or by a link that works without one for a day. Clients of xAI's interface get such a link always, because
 * the vendor's is one and they download it as it is.
 */
function contentUrl({ gateway, videos, settings, baseUrl }: ViewContext, task: VideoTask): string {
  const url = `${baseUrl}/v1/videos/${task.id}/content`;
  const isLinked = task.form === 'xai-videos' || settings.videos.signedLinks;
  return isLinked ? `${url}?${videos.links.sign(task, gateway.clock.nowMs())}` : url;
}

/** A task as its clients see it. @throws GatewayError where what was asked for cannot be read */
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

/** The answer to a question for a task, in the form in which it was asked to be made. */
export function encodeTask(context: ViewContext, task: VideoTask): VideoAnswer {
  const { status, body } = encodeVideoTask(viewTask(context, task));
  const isOpen = task.phase !== 'completed' && task.phase !== 'failed';
  return { status, text: body.toString('utf8'), headers: { 'cache-control': 'no-store', ...(isOpen ? openHeaders : {}) } };
}

/** The answer to the request that made a task. */
export function encodeCreated(context: ViewContext, task: VideoTask): VideoAnswer {
  const { status, body } = encodeCreatedVideo(viewTask(context, task));
  return { status, text: body.toString('utf8'), headers: { 'cache-control': 'no-store', ...openHeaders } };
}
