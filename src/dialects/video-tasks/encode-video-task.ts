import type { VideoError, VideoForm, VideoStatus } from '../../inference/video.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { sizeOf } from './frame-sizes.ts';
import { putTextMember, rawMember, textMember, type TextMember, writeTextObject } from './json-text.ts';

/** The values of a task object. Times are Unix seconds. */
export type VideoTaskView = {
  readonly id: string;
  /** The interface of the request. The object is written in the same form. */
  readonly form: VideoForm;
  /** The model name exactly as the client wrote it. */
  readonly model: string;
  readonly status: VideoStatus;
  /** 0 to 100. */
  readonly progress: number;
  readonly createdAt: number;
  /** When the task ended, with or without success. */
  readonly completedAt?: number;
  readonly expiresAt?: number;
  readonly prompt: string;
  /** The metadata exactly as the client wrote it: a JSON text. */
  readonly metadata: string;
  /** The requested length; the true length once it is known. */
  readonly seconds?: number;
  readonly resolution?: string;
  readonly aspectRatio?: string;
  /** The address of the finished video. */
  readonly url?: string;
  readonly error?: VideoError;
  readonly remixedFrom?: string;
};

/** A JSON reply as bytes, so that numbers in metadata keep all their digits. */
export type VideoReply = { readonly status: number; readonly body: Buffer };

/** Whole percent. 100 only if there is a video. */
function progressOf({ status, progress }: VideoTaskView): number {
  if (status === 'completed') return 100;
  return Math.min(99, Math.max(0, Math.floor(Number.isFinite(progress) ? progress : 0)));
}

function metadataOf({ status, metadata, url }: VideoTaskView): string {
  return status === 'completed' && url !== undefined ? putTextMember(metadata, 'url', url) : metadata;
}

/** Writes a member that has a value. OpenAI's object always has all members, with null for absent values. */
function optionalMember(key: string, value: JsonValue | undefined, isAlways: boolean): readonly TextMember[] {
  return value === undefined && !isAlways ? [] : [textMember(key, value ?? null)];
}

/** Writes the object of the contract (A 2.1). OpenAI's is the same with more members. */
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

/**
 * Writes xAI's form. A video that moderation withheld is done and has no address. The status 202 means that the task is
 * not finished.
 */
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

/** Writes the state of a task. Both addresses of the contract return the same (A 4.2). */
export function encodeVideoTask(view: VideoTaskView): VideoReply {
  if (view.form !== 'xai-videos') return { status: 200, body: Buffer.from(writeTaskObject(view, view.form === 'openai-videos')) };
  const { status, body } = encodeXaiTask(view);
  return { status, body: Buffer.from(JSON.stringify(body)) };
}

/** Writes the reply to the request that created a task. */
export function encodeCreatedVideo(view: VideoTaskView): VideoReply {
  if (view.form !== 'xai-videos') return { ...encodeVideoTask(view), status: 200 };
  return { status: 200, body: Buffer.from(JSON.stringify({ request_id: view.id })) };
}

/** Writes a page of tasks of all interfaces, in OpenAI's form. */
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
