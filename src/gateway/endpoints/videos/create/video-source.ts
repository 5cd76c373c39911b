import { fieldOf } from '../../../../dialects/video-tasks/field-names.ts';
import { listTextMembers, writeTextObject } from '../../../../dialects/video-tasks/json-text.ts';
import type { VideoProtocolId } from '../../../../dialects/video-tasks/video-protocol.ts';
import { GatewayError } from '../../../../inference/gateway-error.ts';
import type { VideoInput, VideoRequest } from '../../../../inference/video.ts';
import type { StoredMedia, VideoTask } from '../../../../tasks/video-task.ts';
import type { Target } from '../../../attempts/routing/target.ts';
import { findTask, statusOf, type VideoContext } from '../video-context.ts';

/** A file larger than this cannot be sent within a request: vendors take so much, and it is held in memory. */
const inlineBytesMax = 20 * 1024 * 1024;

/** A video of the gateway's own that a request changes or lengthens. */
export type VideoSource = {
  readonly task: VideoTask;
  /** The request as a target is to be told of it. @throws GatewayError */
  readonly fit: (request: VideoRequest, target: Target) => Promise<VideoRequest>;
};

/** The id in an address that the gateway handed out for the file of a video; no vendor could fetch it, because it asks for a key. */
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
 * Finds the video of the gateway's own that a request is about, by its id or by its address. Undefined where it is about none.
 * @throws GatewayError where it is not the caller's, is not finished or is no longer there
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

/** An address that only the gateway's own clients can use is not forwarded: it is replaced by the video. */
function withoutVideo(metadata: string): string {
  const members = listTextMembers(metadata);
  const others = members.filter(({ key }) => fieldOf(key) !== 'video');
  return others.length === members.length ? metadata : writeTextObject(others);
}

/** How long and large a remix becomes that its upstream makes of what it keeps: as its source is. */
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

/** Whether the upstream has the video itself and can be told of it by its id there. */
export function isKept(task: VideoTask, upstreamId: string, protocol: VideoProtocolId | undefined): boolean {
  const isSame = task.upstream === upstreamId && protocol === task.protocol;
  return isSame && protocol === 'openai-videos' && task.upstreamTaskId !== undefined;
}

/** The file of a video that is to be changed. @throws GatewayError where it is not finished or is no longer there */
export function mediaOf(task: VideoTask): StoredMedia {
  const status = statusOf(task);
  if (status !== 'completed')
    throw new GatewayError('task_not_finished', `The video that is to be changed is not completed; its status is ${status}.`, {
      param: 'video',
    });
  if (task.media === undefined) throw gone();
  return task.media;
}

function gone(): GatewayError {
  return new GatewayError('result_unavailable', 'The file of the video that is to be changed is no longer there.', {
    status: 410,
    param: 'video',
  });
}

async function loadInline({ videos, signal, admission }: VideoContext, media: StoredMedia): Promise<VideoInput> {
  if (media.bytes > inlineBytesMax) {
    const message = `The video that is to be changed has ${media.bytes} bytes, and at most ${inlineBytesMax} can be sent to a model service that does not keep it.`;
    throw new GatewayError('invalid_media', message, { param: 'video' });
  }
  // The file, and the text that it becomes.
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
