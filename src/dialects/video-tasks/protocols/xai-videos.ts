import type { VideoInput, VideoRequest } from '../../../inference/video.ts';
import { membersOf, objectOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { documentedRatios } from '../frame-sizes.ts';
import { textMember, type TextMember } from '../json-text.ts';
import { imagesMax } from '../read-media.ts';
import { missingField, wrongValue } from '../request-problem.ts';
import type { UpstreamVideo, VideoBilling, VideoProtocol, VideoSubmission } from '../video-protocol.ts';
import {
  addressOf,
  billOf,
  collectExtraMembers,
  finishSubmission,
  remixMsMax,
  remixResolutionMax,
  requireOneOf,
  type SentFields,
} from './submission-parts.ts';
import {
  evidenceOf,
  moderationError,
  readDurationMs,
  readErrorText,
  readFailure,
  readProgress,
  readStatusWith,
  readSubmissionWith,
  taskIdOf,
  unclear,
  unknownStatus,
  videoPath,
  withDuration,
  withProgress,
} from './upstream-replies.ts';

// xAI's Imagine video: https://docs.x.ai/docs/guides/video-generations

const resolutions: readonly string[] = ['480p', '720p', '1080p'];
/** The defaults are always sent, because resellers document the vendor's defaults differently. */
const defaults = { seconds: 5, resolution: '480p', aspectRatio: '16:9', extensionSeconds: 6 };
const secondsMax = 15;
const extensionSecondsMax = 10;
/**
 * The longest video that can be extended. The vendor reports the length of the result; the length of the source is not
 * details before.
 */
const extendedSecondsMax = 30;

function boundSeconds(seconds: number, max: number): number {
  if (seconds >= 1 && seconds <= max) return seconds;
  throw wrongValue('duration', `must be from 1 to ${max} seconds for this model`, String(seconds));
}

function imageMembers({ mode, images }: VideoRequest): readonly TextMember[] {
  if (images.length > imagesMax) throw wrongValue('images', `must have at most ${imagesMax} items for this model`, String(images.length));
  const urls = images.map((image) => ({ url: addressOf(image, 'images') }));
  const [first] = urls;
  if (first === undefined) return [];
  return [mode === 'image' ? textMember('image', first) : textMember('reference_images', urls)];
}

function generationMembers(request: VideoRequest): readonly TextMember[] {
  const { images, aspectRatio, durationSeconds, resolution } = request;
  // If there is an image and no ratio, the ratio of the image applies (A 4.1).
  const ratio = aspectRatio ?? (images.length === 0 ? defaults.aspectRatio : undefined);
  return [
    textMember('duration', boundSeconds(durationSeconds ?? defaults.seconds, secondsMax)),
    textMember('resolution', requireOneOf('resolution', resolution ?? defaults.resolution, resolutions)),
    ...(ratio === undefined ? [] : [textMember('aspect_ratio', requireOneOf('aspect_ratio', ratio, documentedRatios))]),
    ...imageMembers(request),
  ];
}

function videoMember(video: VideoInput | undefined): TextMember {
  if (video === undefined) throw missingField('video');
  return textMember('video', { url: addressOf(video, 'video') });
}

function billGeneration(sent: SentFields): VideoBilling {
  const images = (sent.has('image') ? 1 : 0) + sent.count('reference_images');
  return billOf(Number(sent.read('duration')) * 1000, images, textOf(sent.read('resolution')) ?? defaults.resolution);
}

type Variant = { readonly path: string; readonly members: readonly TextMember[]; readonly bill: (sent: SentFields) => VideoBilling };

function chooseVariant(request: VideoRequest): Variant {
  if (request.mode === 'remix') {
    return { path: '/videos/edits', members: [videoMember(request.video)], bill: () => billOf(remixMsMax, 0, remixResolutionMax) };
  }
  if (request.mode !== 'extension') return { path: '/videos/generations', members: generationMembers(request), bill: billGeneration };
  const seconds = boundSeconds(request.durationSeconds ?? defaults.extensionSeconds, extensionSecondsMax);
  return {
    path: '/videos/extensions',
    members: [videoMember(request.video), textMember('duration', seconds)],
    bill: (sent) => billOf((extendedSecondsMax + Number(sent.read('duration'))) * 1000, 0, remixResolutionMax),
  };
}

function encodeSubmission(request: VideoRequest, upstreamModel: string): VideoSubmission {
  const { path, members, bill } = chooseVariant(request);
  const extra = collectExtraMembers(request, 'xai-videos');
  return finishSubmission({
    path,
    members: [
      textMember('model', upstreamModel),
      textMember('prompt', request.prompt),
      ...members,
      ...(request.user === undefined ? [] : [textMember('user', request.user)]),
      ...extra.members,
    ],
    ignored: extra.ignored,
    bill,
  });
}

/** Old replies have no status: a video means that the task is done. */
const statusOf = (body: JsonObject): unknown => body.status ?? (objectOf(body.video) === undefined ? undefined : 'done');

function readDone(body: JsonObject): UpstreamVideo {
  const video = objectOf(body.video);
  const url = textOf(video?.url) ?? '';
  const details = { ...withDuration(readDurationMs(video?.duration)), raw: figuresOf(body) };
  // The vendor bills videos that its moderation withholds.
  if (video?.respect_moderation === false) return { status: 'failed', error: moderationError, isBilled: true, ...details };
  if (!/^(?:https?:\/\/|data:video\/)/i.test(url)) return unclear('the upstream reports a finished video without an address');
  return { status: 'completed', result: { kind: 'url', url }, ...details };
}

/** Returns the vendor's numbers without the address, because the address gives access to the video. */
function figuresOf({ model, usage, video }: JsonObject): JsonObject {
  const { duration, respect_moderation } = membersOf(video);
  return evidenceOf({ model, usage, video: evidenceOf({ duration, respect_moderation }) });
}

const readings: ReadonlyMap<unknown, (body: JsonObject) => UpstreamVideo> = new Map([
  ['pending', readPending],
  ['done', readDone],
  [
    'expired',
    (): UpstreamVideo => ({
      status: 'failed',
      error: { code: 'task_expired', message: 'The upstream let the task expire before it was done.' },
      isBilled: false,
    }),
  ],
  ['failed', (body: JsonObject): UpstreamVideo => ({ status: 'failed', error: readFailure(readErrorText(body)), isBilled: false })],
]);

function readPending(body: JsonObject): UpstreamVideo {
  const progress = readProgress(body.progress);
  return { status: progress !== undefined && progress > 0 ? 'in_progress' : 'queued', ...withProgress(progress) };
}

export const xaiVideos: VideoProtocol = {
  id: 'xai-videos',
  isIdempotent: false,
  encodeSubmission,
  readSubmission: (reply) =>
    readSubmissionWith(reply, (body) => {
      const upstreamTaskId = taskIdOf(body.request_id);
      return upstreamTaskId === undefined ? undefined : { upstreamTaskId, video: { status: 'queued' } };
    }),
  statusPath: videoPath,
  readStatus: (reply) => {
    // 202 means that the video is not done yet. Its body may be empty.
    if (reply.status === 202 && reply.body.toString('latin1').trim() === '') return { status: 'queued' };
    return readStatusWith(reply, (body) => {
      const status = statusOf(body);
      if (status === undefined && reply.status === 202) return readPending(body);
      return readings.get(status)?.(body) ?? unknownStatus(status);
    });
  },
};
