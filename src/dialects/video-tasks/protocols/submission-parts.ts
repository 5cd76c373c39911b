import type { VideoInput, VideoRequest } from '../../../inference/video.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { JsonSpan } from '../../../platform/json/json-span.ts';
import type { JsonValue } from '../../../platform/json/json-value.ts';
import { listElements, listMembers } from '../../../platform/json/locate-json.ts';
import { parseJson } from '../../../platform/json/parse-json.ts';
import { writeDataUrl } from '../../data-url.ts';
import { fieldOf } from '../field-names.ts';
import { listTextMembers, type TextMember, writeTextObject } from '../json-text.ts';
import { untranslatable, wrongValue } from '../request-problem.ts';
import type { VideoBilling, VideoProtocolId, VideoSubmission } from '../video-protocol.ts';

// Shared by the upstream interfaces: writing requests.

/** The output of a remix is as long as its input, and at most this long (A 4.1). */
export const remixMsMax = 8700;
/** The highest resolution of a remix (A 4.1). */
export const remixResolutionMax = '720p';

const jsonHeaders: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

/**
 * Returns the address of a medium.
 * @throws GatewayError for a video of the gateway, because the upstream has no address for it; the caller replaces it
 * first
 */
export function addressOf(input: VideoInput, param: string): string {
  if (input.kind === 'url') return input.url;
  if (input.kind === 'data') return writeDataUrl({ mediaType: input.mediaType, data: input.base64 });
  throw untranslatable(param, 'The upstream of this model does not accept the id of a task as a video.');
}

export function requireOneOf(param: string, value: string, words: readonly string[]): string {
  if (words.includes(value)) return value;
  throw wrongValue(param, `must be ${joinChoices(words)} for this model`, `'${value}'`);
}

export const joinChoices = (words: readonly (string | number)[]): string =>
  words.length === 1 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${String(words.at(-1))}`;

/**
 * Whether a member of metadata may become a field of the upstream's body. Fields that the request itself decides may
 * not.
 */
export function isFree({ key }: { readonly key: string }): boolean {
  const field = fieldOf(key);
  return field === undefined || field === 'metadata' || field === 'callback_url';
}

/** Whether a member of metadata is one that only the request itself decides: model, prompt and user. */
export function isOwnField({ key }: { readonly key: string }): boolean {
  return ['model', 'prompt', 'user'].includes(fieldOf(key) ?? '');
}

export type ExtraMembers = { readonly members: readonly TextMember[]; readonly ignored: readonly string[] };

/**
 * Collects the additional members for the upstream exactly as they were written: the other members of the metadata, and
 * those of the request if it has the upstream's own interface.
 */
export function collectExtraMembers(request: VideoRequest, protocol: VideoProtocolId): ExtraMembers {
  const extra = request.extraFields === undefined ? [] : listTextMembers(request.extraFields);
  const own = request.form === protocol ? extra : [];
  const ignored = request.form === protocol ? [] : extra.map(({ key }) => key);
  const keys = new Set(own.map(({ key }) => key));
  const members = [...own];
  for (const member of listTextMembers(request.metadata)) {
    if (isOwnField(member)) ignored.push(`metadata.${member.key}`);
    if (!isFree(member)) continue;
    if (keys.has(member.key)) ignored.push(`metadata.${member.key}`);
    else members.push(member);
  }
  return { members, ignored };
}

/** The fields of a body that cost money. They are read from its bytes, not from the values that it was written from. */
export type SentFields = {
  /** Whether a member exists and is not null. */
  readonly has: (key: string, inner?: string) => boolean;
  /** Reads a short value. */
  readonly read: (key: string, inner?: string) => JsonValue | undefined;
  /** Counts the items of a list. An absent list has none. */
  readonly count: (key: string) => number;
};

const LETTER_N = 0x6e;

/**
 * @throws GatewayError if two members of a body have the same meaning: a bug of ours, which could cost more than is
 * billed
 */
function readSent(body: Buffer): SentFields {
  const spans = new Map<string, JsonSpan>();
  const names = new Set<string>();
  for (const { key, valueSpan } of listMembers(body, { start: 0, end: body.length })) {
    const name = isFree({ key }) ? key : (fieldOf(key) ?? key);
    if (names.has(name)) {
      const internal = `a video request has two members for ${name}`;
      throw new GatewayError('internal_error', 'The request could not be prepared.', { internal });
    }
    names.add(name);
    spans.set(key, valueSpan);
  }
  const find = (key: string, inner?: string): JsonSpan | undefined => {
    const span = spans.get(key);
    if (span === undefined || inner === undefined) return span;
    return listMembers(body, span).find((member) => member.key === inner)?.valueSpan;
  };
  return {
    has: (key, inner) => {
      const span = find(key, inner);
      return span !== undefined && body[span.start] !== LETTER_N;
    },
    read: (key, inner) => {
      const span = find(key, inner);
      return span && parseJson(body.subarray(span.start, span.end));
    },
    count: (key) => {
      const span = find(key);
      return span === undefined ? 0 : listElements(body, span).length;
    },
  };
}

export const billOf = (outputVideoMs: number, inputImages: number, resolution: string): VideoBilling => ({
  usage: { outputVideoMs, inputImages },
  parameters: { resolution },
});

type Draft = {
  readonly path: string;
  readonly members: readonly TextMember[];
  readonly ignored: readonly string[];
  readonly bill: (sent: SentFields) => VideoBilling;
};

/** Writes the body, and reads the bill from it. */
export function finishSubmission({ path, members, ignored, bill }: Draft): VideoSubmission {
  const body = Buffer.from(writeTextObject(members));
  return { path, headers: jsonHeaders, body, billing: bill(readSent(body)), ignored };
}
