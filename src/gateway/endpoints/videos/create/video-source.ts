import { fieldOf } from '../../../../dialects/video-tasks/field-names.ts';
import { listTextMembers, writeTextObject } from '../../../../dialects/video-tasks/json-text.ts';
import type { VideoProtocolId } from '../../../../dialects/video-tasks/video-protocol.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { VideoInput, VideoRequest } from '../../../../inference/video.ts';
import type { StoredMedia, VideoTask } from '../../../../tasks/video-task.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { findTask, statusOf, type VideoContext } from '../video-context.ts';

/** The largest file within a request: vendors accept this much, and it is held in memory. */
const inlineBytesMax = 20 * 1024 * 1024;

/** A video of the gateway that a request changes or extends. */
export type VideoSource = {
  readonly task: VideoTask;
  /** Prepares the request for a target. @throws GatewayError */
  readonly fit: (request: VideoRequest, target: Target) => Promise<VideoRequest>;
};

/** The id in the gateway's URL of a video file. No vendor could fetch that URL, because it requires a key. */
export function ownVideoId(url: string, baseUrl: string): string | undefined {
  const parsed = URL.parse(url);
  if (parsed === null || parsed.origin !== URL.parse(baseUrl)?.origin) return undefined;
  return /^\/v1\/videos\/([\w-]{1,80})\/content$/.exec(parsed.pathname)?.[1];
}

function sourceId(video: VideoInput | undefined, baseUrl: string): string | undefined {
  if (video?.kind === 'task') return video.taskId;
  return video?.kind === 'url' ? ownVideoId(video.url, baseUrl) : undefined;
}

/**
 * Finds the gateway's video that a request names by id or URL. Undefined if it names none.
 * @throws GatewayError if it is another user's, not finished, or deleted
 */
export async function findSource(context: VideoContext, { video }: VideoRequest): Promise<VideoSource | undefined> {
  const id = sourceId(video, context.baseUrl);
  if (id === undefined) return undefined;
  const task = await findTask(context, id);
  const media = mediaOf(task);
  let inline: Promise<VideoInput> | undefined;
  return {
    task,
    fit: async (request, { upstream }) => {
      const metadata = withoutVideo(request.metadata);
      if (!isKept(task, upstream.id, upstream.services.videos))
        return { ...request, metadata, video: await (inline ??= loadInline(context, media)) };
      const video: VideoInput = { kind: 'task', taskId: task.upstreamTaskId ?? '' };
      return { ...request, ...(request.mode === 'remix' ? sizeOfSource(context, task) : {}), metadata, video };
    },
  };
}

/** Replaces the gateway's own URL by the video, because only clients of the gateway can use it. */
function withoutVideo(metadata: string): string {
  const members = listTextMembers(metadata);
  const others = members.filter(({ key }) => fieldOf(key) !== 'video');
  return others.length === members.length ? metadata : writeTextObject(others);
}

/** The form of a remix at the upstream that stores the source: that of the source. */
function sizeOfSource({ videos }: VideoContext, task: VideoTask): Pick<VideoRequest, 'durationSeconds' | 'resolution' | 'aspectRatio'> {
  const { durationMs, pricingParameters } = task;
  const { resolution } = pricingParameters;
  const { aspectRatio } = videos.tasks.openRequest(task);
  return {
    ...(durationMs === undefined ? {} : { durationSeconds: Math.ceil(durationMs / 1000) }),
    ...(resolution === undefined ? {} : { resolution }),
    ...(aspectRatio === undefined ? {} : { aspectRatio }),
  };
}

/** Whether the upstream stores the video, so that its id there can be sent. */
export function isKept(task: VideoTask, upstreamId: string, protocol: VideoProtocolId | undefined): boolean {
  const isSame = task.upstream === upstreamId && protocol === task.protocol;
  return isSame && protocol === 'openai-videos' && task.upstreamTaskId !== undefined;
}

/** The file of a source video. @throws GatewayError if it is not finished or deleted */
export function mediaOf(task: VideoTask): StoredMedia {
  const status = statusOf(task);
  if (status !== 'completed')
    throw new GatewayError('task_not_finished', `The source video is not completed; its status is ${status}.`, {
      param: 'video',
    });
  if (task.media === undefined) throw gone();
  return task.media;
}

function gone(): GatewayError {
  return new GatewayError('result_unavailable', 'The file of the source video was deleted.', {
    status: 410,
    param: 'video',
  });
}

async function loadInline({ videos, signal, admission }: VideoContext, media: StoredMedia): Promise<VideoInput> {
  if (media.bytes > inlineBytesMax) {
    const message = `The source video has ${media.bytes} bytes, and at most ${inlineBytesMax} can be sent to a model service that does not store it.`;
    throw new GatewayError('invalid_media', message, { param: 'video' });
  }
  // The file and its base64 text.
  if (!admission.holdBytes(media.bytes * 3))
    throw new GatewayError('overloaded', 'The gateway has no room for this video at the moment. Please try again in 1s.', {
      retryAfterSeconds: 1,
    });
  const content = await videos.storage.open(media.key, undefined, signal);
  if (content === undefined) throw gone();
  const pieces: Uint8Array[] = [];
  for await (const piece of content) pieces.push(piece);
  return { kind: 'data', mediaType: media.mediaType, base64: Buffer.concat(pieces).toString('base64') };
}
