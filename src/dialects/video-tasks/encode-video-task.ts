import type { VideoError, VideoForm, VideoStatus } from '../../inference/video.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { sizeOf } from './frame-sizes.ts';
import { putTextMember, rawMember, textMember, type TextMember, writeTextObject } from './json-text.ts';

/** What a task object shows. Times are Unix seconds. */
export type VideoTaskView = {
  readonly id: string;
  /** The interface through which it came: the object is written in the same one. */
  readonly form: VideoForm;
  /** The name that the client asked for. */
  readonly model: string;
  readonly status: VideoStatus;
  /** 0 to 100. */
  readonly progress: number;
  readonly createdAt: number;
  /** When it was over, whether it succeeded or not. */
  readonly completedAt?: number;
  readonly expiresAt?: number;
  readonly prompt: string;
  /** The object that the client sent, as it wrote it: a JSON text. */
  readonly metadata: string;
  /** As asked for, or once it is known, as it is. */
  readonly seconds?: number;
  readonly resolution?: string;
  readonly aspectRatio?: string;
  /** Where the finished video is. */
  readonly url?: string;
  readonly error?: VideoError;
  readonly remixedFrom?: string;
};

/** A reply in JSON, as bytes: numbers in metadata keep all their digits. */
export type VideoReply = { readonly status: number; readonly body: Buffer };

/** Whole percent, 100 only when there is a video. */
function progressOf({ status, progress }: VideoTaskView): number {
  if (status === 'completed') return 100;
  return Math.min(99, Math.max(0, Math.floor(Number.isFinite(progress) ? progress : 0)));
}

function metadataOf({ status, metadata, url }: VideoTaskView): string {
  return status === 'completed' && url !== undefined ? putTextMember(metadata, 'url', url) : metadata;
}

/** A member where it has a value. OpenAI's object has all of them always, null where there is nothing to say. */
function optionalMember(key: string, value: JsonValue | undefined, isAlways: boolean): readonly TextMember[] {
  return value === undefined && !isAlways ? [] : [textMember(key, value ?? null)];
}

/** The object of the contract (A 2.1) and of OpenAI, which is the same with more members. */
function writeTaskObject(view: VideoTaskView, isOpenai: boolean): string {
  const { id, model, status, createdAt, completedAt, expiresAt, prompt, seconds, resolution, aspectRatio, remixedFrom } = view;
  const error = status === 'failed' ? (view.error ?? { code: 'upstream_failed', message: 'The video could not be made.' }) : undefined;
  return writeTextObject([
    textMember('id', id),
    ...(isOpenai ? [] : [textMember('task_id', id)]),
    textMember('object', 'video'),
    textMember('model', model),
    textMember('status', status),
    textMember('progress', progressOf(view)),
    textMember('created_at', createdAt),
    ...optionalMember('completed_at', completedAt, isOpenai),
    ...optionalMember('expires_at', expiresAt, isOpenai),
    textMember('prompt', prompt),
    ...optionalMember('seconds', seconds === undefined ? undefined : String(seconds), isOpenai),
    ...optionalMember('size', sizeOf(resolution, aspectRatio), isOpenai),
    ...optionalMember('remixed_from_video_id', remixedFrom, isOpenai),
    rawMember('metadata', metadataOf(view)),
    ...optionalMember('error', error, isOpenai),
  ]);
}

/** xAI's words. What its moderation withheld is done, and has no address; 202 stands for everything that is not over. */
function encodeXaiTask(view: VideoTaskView): { readonly status: number; readonly body: JsonObject } {
  const { model, seconds, url, error } = view;
  const duration = seconds === undefined ? {} : { duration: seconds };
  if (view.status === 'completed') {
    const video = { url: url ?? '', ...duration, respect_moderation: true };
    return { status: 200, body: { status: 'done', progress: 100, model, video } };
  }
  if (view.status !== 'failed') return { status: 202, body: { status: 'pending', progress: progressOf(view), model } };
  if (error?.code === 'content_moderated') {
    return { status: 200, body: { status: 'done', progress: 100, model, video: { url: '', ...duration, respect_moderation: false } } };
  }
  const status = error?.code === 'task_expired' ? 'expired' : 'failed';
  return { status: 200, body: { status, model, ...(error === undefined ? {} : { error }) } };
}

/** The answer to a question for a task. Both addresses of the contract get the same one (A 4.2). */
export function encodeVideoTask(view: VideoTaskView): VideoReply {
  if (view.form !== 'xai-videos') return { status: 200, body: Buffer.from(writeTaskObject(view, view.form === 'openai-videos')) };
  const { status, body } = encodeXaiTask(view);
  return { status, body: Buffer.from(JSON.stringify(body)) };
}

/** The answer to the request that made a task. */
export function encodeCreatedVideo(view: VideoTaskView): VideoReply {
  if (view.form !== 'xai-videos') return { ...encodeVideoTask(view), status: 200 };
  return { status: 200, body: Buffer.from(JSON.stringify({ request_id: view.id })) };
}

/** A page of tasks, whatever interface they came through, as OpenAI's clients read it. */
export function encodeVideoList(views: readonly VideoTaskView[], hasMore: boolean): Buffer {
  const page = writeTextObject([
    textMember('object', 'list'),
    rawMember('data', `[${views.map((view) => writeTaskObject(view, true)).join(',')}]`),
    textMember('first_id', views.at(0)?.id ?? null),
    textMember('last_id', views.at(-1)?.id ?? null),
    textMember('has_more', hasMore),
  ]);
  return Buffer.from(page);
}

export const encodeDeletedVideo = (id: string): JsonObject => ({ id, object: 'video.deleted', deleted: true });
