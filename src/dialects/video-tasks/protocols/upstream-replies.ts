import type { VideoError } from '../../../inference/video.ts';
import { filledText, numberOf, objectOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { parseJsonObject } from '../../../platform/json/parse-json.ts';
import { hideSecrets, messageCharactersMax } from '../../upstream-error.ts';
import type { SubmissionAnswer, UpstreamVideo, WholeReply } from '../video-protocol.ts';

// Shared by the upstream interfaces: reading replies. A reply that cannot be understood is unclear and never ends
// a task.

const idCharactersMax = 512;
const durationMsMax = 24 * 3600 * 1000;

/** Reads the id of a video, if it is valid in a path. */
export function taskIdOf(value: unknown): string | undefined {
  const id = filledText(value);
  return id === undefined || id.length > idCharactersMax || /^\.{1,2}$/.test(id) ? undefined : id;
}

export const videoPath = (upstreamTaskId: string): string => `/videos/${encodeURIComponent(upstreamTaskId)}`;

export type ErrorText = { readonly message: string; readonly param?: string; readonly code?: string };

const cleanWords = (words: string): string => hideSecrets(words.slice(0, messageCharactersMax));

/**
 * Reads an error in any of the shapes of servers: `{error:{message}}`, `{code,error:"..."}`, `{error:"..."}`,
 * `{code,message}`.
 */
export function readErrorText(body: JsonObject | undefined): ErrorText {
  const inner = objectOf(body?.error);
  const message =
    filledText(inner?.message) ??
    filledText(body?.error) ??
    filledText(body?.message) ??
    filledText(body?.detail) ??
    filledText(inner?.code);
  const code = textOf(inner?.code) ?? textOf(body?.code);
  const param = filledText(inner?.param);
  return {
    message: cleanWords(message ?? ''),
    ...(code === undefined ? {} : { code }),
    ...(param === undefined ? {} : { param: cleanWords(param) }),
  };
}

/**
 * Refusals that do not show whether the upstream works on the video: it stopped waiting, or the client of a proxy left.
 */
const unclearRefusals = new Set([408, 425, 499]);

/** Reads the answer to a submission. `readAccepted` reads a success. */
export function readSubmissionWith(
  { status, body }: WholeReply,
  readAccepted: (body: JsonObject) => { readonly upstreamTaskId: string; readonly video: UpstreamVideo } | undefined,
): SubmissionAnswer {
  const object = parseJsonObject(body);
  if (status >= 200 && status < 300) {
    const accepted = object === undefined ? undefined : readAccepted(object);
    return accepted === undefined
      ? { type: 'unclear', reason: `the upstream answered ${status} without an id` }
      : { type: 'accepted', ...accepted };
  }
  if (status < 400 || status >= 500 || unclearRefusals.has(status)) return { type: 'unclear', reason: `the upstream answered ${status}` };
  const { message, param } = readErrorText(object);
  return { type: 'refused', status, message, ...(param === undefined ? {} : { param }) };
}

/**
 * Reads the answer to a status request. Only a success contains a report. Only a 404 or 410 in JSON means that the
 * video does not exist; without a body, or in HTML, it comes from a server on the way.
 */
export function readStatusWith({ status, body }: WholeReply, readVideo: (body: JsonObject) => UpstreamVideo): UpstreamVideo {
  const object = parseJsonObject(body);
  if (object !== undefined && (status === 404 || status === 410)) return { status: 'missing' };
  if (status < 200 || status >= 300) return unclear(`the upstream answered ${status}`);
  return object === undefined ? unclear(`the upstream answered ${status} without an object`) : readVideo(object);
}

export const unclear = (reason: string): UpstreamVideo => ({ status: 'unclear', reason });

/** An unknown status. It is for the operator's log, so only a short part is repeated. */
export const unknownStatus = (status: unknown): UpstreamVideo =>
  unclear(
    typeof status === 'string' && /^[\w-]{1,40}$/.test(status)
      ? `the upstream returned the unknown status ${status}`
      : 'the upstream returned no status',
  );

/** Reads a percentage: a number, or a text such as `50%`. Undefined for anything else. */
export function readProgress(value: unknown): number | undefined {
  const number = typeof value === 'string' && /^\d{1,3}(?:\.\d+)?\s*%?$/.test(value.trim()) ? Number.parseFloat(value) : numberOf(value);
  return number === undefined || number < 0 || number > 100 ? undefined : Math.floor(number);
}

/** Reads seconds, as a number or a text, and returns milliseconds. */
export function readDurationMs(value: unknown): number | undefined {
  const seconds = typeof value === 'string' && /^\d{1,6}(?:\.\d{1,6})?$/.test(value) ? Number(value) : numberOf(value);
  const ms = seconds === undefined ? undefined : Math.round(seconds * 1000);
  return ms === undefined || ms <= 0 || ms > durationMsMax ? undefined : ms;
}

export const withProgress = (progress: number | undefined): { readonly progress?: number } => (progress === undefined ? {} : { progress });
export const withDuration = (durationMs: number | undefined): { readonly durationMs?: number } =>
  durationMs === undefined ? {} : { durationMs };
/** Returns the numbers that an upstream reports. */
export const evidenceOf = (figures: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(figures).filter(([, value]) => value !== undefined));

const moderationCodes = /moderation|content_moderated|content_policy|safety|flagged|usage_guidelines/i;

export const moderationError: VideoError = {
  code: 'content_moderated',
  message: "The generated video was withheld by the provider's moderation.",
};

/** Reads why a video failed. */
export function readFailure(words: ErrorText): VideoError {
  const { message, code } = words;
  if (code !== undefined && moderationCodes.test(code)) return message === '' ? moderationError : { ...moderationError, message };
  return { code: 'upstream_failed', message: message === '' ? 'The upstream could not make the video.' : message };
}
