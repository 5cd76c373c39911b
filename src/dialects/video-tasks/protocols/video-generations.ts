import type { VideoRequest } from '../../../inference/video.ts';
import { filledText, meaningOf, membersOf, objectOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { documentedRatios, knownResolutions } from '../frame-sizes.ts';
import { listTextMembers, rawMember, textMember, type TextMember, writeTextObject } from '../json-text.ts';
import { untranslatable } from '../request-problem.ts';
import type { UpstreamVideo, VideoBilling, VideoProtocol, VideoSubmission } from '../video-protocol.ts';
import {
  addressOf,
  billOf,
  finishSubmission,
  isFree,
  isOwnField,
  remixMsMax,
  remixResolutionMax,
  requireOneOf,
  type SentFields,
} from './submission-parts.ts';
import {
  evidenceOf,
  readDurationMs,
  readErrorText,
  readFailure,
  readProgress,
  readStatusWith,
  readSubmissionWith,
  taskIdOf,
  unknownStatus,
  videoPath,
  withDuration,
  withProgress,
} from './upstream-replies.ts';

// A gateway that speaks the contract, for example another Weir.

const defaultSeconds = 5;
/** The contract's resolution if the metadata names none (A 2.2). */
const defaultResolution = '480p';

type Metadata = { readonly json: string; readonly ignored: readonly string[] };

/**
 * The client's metadata as it was written, with the fields that the contract expects there and the client sent
 * elsewhere.
 */
function encodeMetadata(request: VideoRequest): Metadata {
  const { metadata, mode, resolution, aspectRatio, video } = request;
  const written = listTextMembers(metadata);
  // In the same interface, the upstream judges the client's text unchanged.
  const isSame = request.form === 'video-generations';
  // Null means nothing and must not hide a value from elsewhere.
  const members = written.filter(({ key, valueText }) => valueText !== 'null' || isFree({ key }));
  const own = isSame ? [] : members.filter(isOwnField);
  const keys = new Set(members.map(({ key }) => key));
  const elsewhere: readonly (readonly [string, string | undefined])[] = [
    ['resolution', resolution],
    ['aspect_ratio', aspectRatio],
    ['video', mode === 'remix' && video !== undefined && video.kind !== 'task' ? addressOf(video, 'video') : undefined],
  ];
  const added = elsewhere.flatMap(([key, value]) => (value === undefined || keys.has(key) ? [] : [textMember(key, value)]));
  const ignored = own.map(({ key }) => `metadata.${key}`);
  const isUntouched = own.length === 0 && added.length === 0 && (isSame || members.length === written.length);
  if (isUntouched) return { json: metadata, ignored };
  const addedKeys = new Set(added.map(({ key }) => key));
  const retained = isSame ? written.filter(({ key }) => !addedKeys.has(key)) : members.filter((member) => !own.includes(member));
  return { json: writeTextObject([...retained, ...added]), ignored };
}

function generationMembers(request: VideoRequest): readonly TextMember[] {
  const { durationSeconds, images, mode, resolution, aspectRatio } = request;
  if (resolution !== undefined) requireOneOf('resolution', resolution, knownResolutions);
  if (aspectRatio !== undefined) requireOneOf('aspect_ratio', aspectRatio, documentedRatios);
  const urls = images.map((image) => addressOf(image, 'images'));
  const [first] = urls;
  return [
    textMember('duration', durationSeconds ?? defaultSeconds),
    ...(first === undefined ? [] : [mode === 'image' ? textMember('image', first) : textMember('images', urls)]),
  ];
}

/** Metadata decides the cost here, so the bill reads it too. */
function billSent(sent: SentFields): VideoBilling {
  if (sent.has('metadata', 'video')) return billRemix();
  const images = (sent.has('image') ? 1 : 0) + sent.count('images');
  return billOf(Number(sent.read('duration')) * 1000, images, textOf(sent.read('metadata', 'resolution')) ?? defaultResolution);
}

const billRemix = (): VideoBilling => billOf(remixMsMax, 0, remixResolutionMax);

function readExtraMembers({ form, extraFields }: VideoRequest): Metadata & { readonly members: readonly TextMember[] } {
  const members = extraFields === undefined ? [] : listTextMembers(extraFields);
  const isSame = form === 'video-generations';
  return { json: '', members: isSame ? members : [], ignored: isSame ? [] : members.map(({ key }) => key) };
}

function encodeSubmission(request: VideoRequest, upstreamModel: string): VideoSubmission {
  const { mode, prompt, user, video } = request;
  if (mode === 'extension') throw untranslatable('video', 'The upstream of this model cannot extend videos.');
  const metadata = encodeMetadata(request);
  const extra = readExtraMembers(request);
  // The path contains the id of a video that the upstream made.
  const isOfTask = video?.kind === 'task';
  return finishSubmission({
    path: isOfTask ? `${videoPath(video.taskId)}/remix` : '/video/generations',
    members: [
      textMember('model', upstreamModel),
      textMember('prompt', prompt),
      ...(mode === 'remix' ? [] : generationMembers(request)),
      ...(user === undefined ? [] : [textMember('user', user)]),
      ...extra.members,
      rawMember('metadata', metadata.json),
    ],
    ignored: [...extra.ignored, ...metadata.ignored],
    bill: isOfTask ? billRemix : billSent,
  });
}

type Stage = 'queued' | 'in_progress' | 'completed' | 'failed';

/** Names in lower case. Gateways of this kind use many names for the same four stages. Other names are unclear. */
const stages: Readonly<Record<string, Stage>> = {
  queued: 'queued',
  pending: 'queued',
  not_start: 'queued',
  submitted: 'queued',
  created: 'queued',
  in_progress: 'in_progress',
  processing: 'in_progress',
  running: 'in_progress',
  generating: 'in_progress',
  completed: 'completed',
  succeeded: 'completed',
  success: 'completed',
  done: 'completed',
  failed: 'failed',
  failure: 'failed',
  error: 'failed',
  expired: 'failed',
  cancelled: 'failed',
  canceled: 'failed',
};

/** Returns the task inside an envelope such as `{"code":"success","data":{...}}`, or the body itself. */
function unwrap(body: JsonObject): JsonObject {
  const data = objectOf(body.data);
  if (data === undefined || body.status !== undefined) return body;
  // Some envelopes contain the vendor's own reply again, which has less information.
  return data;
}

function readError(task: JsonObject, word: string): ReturnType<typeof readFailure> {
  if (word === 'expired') return { code: 'task_expired', message: 'The upstream let the task expire before it was done.' };
  if (word === 'cancelled' || word === 'canceled') return { code: 'canceled', message: 'The task was canceled at the upstream.' };
  const reason = filledText(task.fail_reason);
  return readFailure(readErrorText(task.error === undefined && reason !== undefined ? { error: reason } : task));
}

function readTask(body: JsonObject, id: string): UpstreamVideo {
  const task = unwrap(body);
  const word = (textOf(task.status) ?? '').toLowerCase();
  const stage = meaningOf(word, stages);
  const durationMs = readDurationMs(task.seconds ?? task.duration);
  const { usage, seconds, size } = task;
  switch (stage) {
    case 'queued':
    case 'in_progress':
      return { status: stage, ...withProgress(readProgress(task.progress)) };
    case 'completed':
      // Its own path rather than the link in the metadata, which may need the credential or have any target.
      return {
        status: 'completed',
        result: { kind: 'path', path: `${videoPath(id)}/content` },
        ...withDuration(durationMs),
        raw: evidenceOf({ usage, seconds, size }),
      };
    case 'failed':
      return { status: 'failed', error: readError(task, word), isBilled: false };
    case undefined:
      return unknownStatus(task.status);
  }
}

/** Reads the id from the top or from the envelope. A status is not required. */
function readAccepted(body: JsonObject): { readonly upstreamTaskId: string; readonly video: UpstreamVideo } | undefined {
  const { data } = body;
  const inner = membersOf(data);
  const upstreamTaskId = taskIdOf(body.id ?? body.task_id ?? inner.id ?? inner.task_id ?? data);
  if (upstreamTaskId === undefined) return undefined;
  const hasStatus = body.status !== undefined || inner.status !== undefined;
  return { upstreamTaskId, video: hasStatus ? readTask(body, upstreamTaskId) : { status: 'queued' } };
}

export const videoGenerations: VideoProtocol = {
  id: 'video-generations',
  isIdempotent: true,
  encodeSubmission,
  readSubmission: (reply) => readSubmissionWith(reply, readAccepted),
  statusPath: videoPath,
  readStatus: (reply, upstreamTaskId) => readStatusWith(reply, (body) => readTask(body, upstreamTaskId)),
  deletePath: videoPath,
};
