import type { VideoRequest } from '../../../inference/video.ts';
import { textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { frameSizeOf, sizeOf } from '../frame-sizes.ts';
import { textMember, type TextMember } from '../json-text.ts';
import { untranslatable, wrongValue } from '../request-problem.ts';
import type { UpstreamVideo, VideoBilling, VideoProtocol, VideoSubmission } from '../video-protocol.ts';
import {
  addressOf,
  billOf,
  collectExtraMembers,
  finishSubmission,
  joinChoices,
  remixResolutionMax,
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

// OpenAI's videos: https://platform.openai.com/docs/api-reference/videos

const lengths: readonly number[] = [4, 8, 12];
const extensionLengths: readonly number[] = [4, 8, 12, 16, 20];
const defaultSeconds = 4;
/** The longest source of a remix. */
const remixSecondsMax = 12;
const vendorSizes: readonly string[] = ['1280x720', '720x1280', '1792x1024', '1024x1792', '1920x1080', '1080x1920'];

/** Writes a length that the vendor supports. Others are not rounded, because the client would pay for another video. */
function secondsMember({ durationSeconds }: VideoRequest, allowed: readonly number[]): TextMember {
  const seconds = durationSeconds ?? defaultSeconds;
  if (!allowed.includes(seconds)) throw wrongValue('duration', `must be ${joinChoices(allowed)} for this model`, String(seconds));
  return textMember('seconds', String(seconds));
}

function sizeMember({ form, resolution, aspectRatio }: VideoRequest): TextMember {
  // The vendor's clients expect its portrait default; all others expect the contract's default.
  const ratio = aspectRatio ?? (form === 'openai-videos' ? '9:16' : '16:9');
  const lines = resolution ?? (ratio === '7:4' || ratio === '4:7' ? '1024p' : '720p');
  const size = sizeOf(lines, ratio);
  if (size !== undefined && vendorSizes.includes(size)) return textMember('size', size);
  throw wrongValue(
    'resolution',
    `and aspect_ratio must make one of the sizes ${joinChoices(vendorSizes)} for this model`,
    `${lines} and ${ratio}`,
  );
}

function imageMembers({ images }: VideoRequest): readonly TextMember[] {
  const [first, second] = images;
  if (second !== undefined) throw untranslatable('images', 'This model accepts only one image.');
  return first === undefined ? [] : [textMember('input_reference', { image_url: addressOf(first, 'image') })];
}

/** Returns the upstream's id of the source video. The vendor accepts only videos that it made. */
function sourceIdOf({ video }: VideoRequest): string {
  if (video?.kind === 'task') return video.taskId;
  throw untranslatable('video', 'This model changes only videos that it made itself: send the id of one.');
}

const billSeconds = (sent: SentFields, resolution: string): VideoBilling =>
  billOf(Number(sent.read('seconds')) * 1000, sent.has('input_reference') ? 1 : 0, resolution);

/** Returns the resolution of the size that is sent. */
const sentResolution = (sent: SentFields): string => frameSizeOf(textOf(sent.read('size')) ?? '')?.resolution ?? remixResolutionMax;

type Variant = {
  readonly path: string;
  readonly members: readonly TextMember[];
  readonly bill: (sent: SentFields) => VideoBilling;
};

function chooseVariant(request: VideoRequest, upstreamModel: string): Variant {
  const { mode, resolution, durationSeconds } = request;
  if (mode === 'remix') {
    // The length and size of the source, if the route knows them.
    const seconds = durationSeconds ?? remixSecondsMax;
    const bill = (): VideoBilling => billOf(seconds * 1000, 0, resolution ?? remixResolutionMax);
    return { path: `${videoPath(sourceIdOf(request))}/remix`, members: [], bill };
  }
  if (mode === 'extension') {
    return {
      path: '/videos/extensions',
      members: [secondsMember(request, extensionLengths), textMember('video', { id: sourceIdOf(request) })],
      bill: (sent) => billSeconds(sent, resolution ?? remixResolutionMax),
    };
  }
  return {
    path: '/videos',
    members: [textMember('model', upstreamModel), secondsMember(request, lengths), sizeMember(request), ...imageMembers(request)],
    bill: (sent) => billSeconds(sent, sentResolution(sent)),
  };
}

/**
 * Writes JSON, which the vendor accepts in place of forms, because numbers of the metadata keep their type and their
 * digits in it.
 */
function encodeSubmission(request: VideoRequest, upstreamModel: string): VideoSubmission {
  const { path, members, bill } = chooseVariant(request, upstreamModel);
  const extra = collectExtraMembers(request, 'openai-videos');
  return finishSubmission({
    path,
    members: [textMember('prompt', request.prompt), ...members, ...extra.members],
    ignored: [...extra.ignored, ...(request.user === undefined ? [] : ['user'])],
    bill,
  });
}

const readings: ReadonlyMap<unknown, (body: JsonObject, id: string) => UpstreamVideo> = new Map([
  ['queued', (body: JsonObject): UpstreamVideo => ({ status: 'queued', ...withProgress(readProgress(body.progress)) })],
  ['in_progress', (body: JsonObject): UpstreamVideo => ({ status: 'in_progress', ...withProgress(readProgress(body.progress)) })],
  [
    'completed',
    ({ model, seconds, size }: JsonObject, id: string): UpstreamVideo => ({
      status: 'completed',
      result: { kind: 'path', path: `${videoPath(id)}/content` },
      ...withDuration(readDurationMs(seconds)),
      raw: evidenceOf({ model, seconds, size }),
    }),
  ],
  ['failed', (body: JsonObject): UpstreamVideo => ({ status: 'failed', error: readFailure(readErrorText(body)), isBilled: false })],
]);

const readVideo = (body: JsonObject, id: string): UpstreamVideo => readings.get(body.status)?.(body, id) ?? unknownStatus(body.status);

export const openaiVideos: VideoProtocol = {
  id: 'openai-videos',
  isIdempotent: false,
  encodeSubmission,
  readSubmission: (reply) =>
    readSubmissionWith(reply, (body) => {
      const upstreamTaskId = taskIdOf(body.id);
      return upstreamTaskId === undefined ? undefined : { upstreamTaskId, video: readVideo(body, upstreamTaskId) };
    }),
  statusPath: videoPath,
  readStatus: (reply, upstreamTaskId) => readStatusWith(reply, (body) => readVideo(body, upstreamTaskId)),
  deletePath: videoPath,
};
