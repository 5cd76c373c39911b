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

// What the three upstream interfaces share in writing requests.

/** Of a remix: its output is as long as its input, and no longer than that (A 4.1). */
export const remixMsMax = 8700;
/** No remix has more lines than these (A 4.1). */
export const remixResolutionMax = '720p';

const jsonHeaders: Readonly<Record<string, string>> = { 'content-type': 'application/json' };

/**
 * The address of a medium.
 * @throws GatewayError for a video of the gateway's own, which the upstream knows by no address: the route has to put one in its place
 */
export function addressOf(input: VideoInput, param: string): string {
  if (input.kind === 'url') return input.url;
  if (input.kind === 'data') return writeDataUrl({ mediaType: input.mediaType, data: input.base64 });
  throw untranslatable(param, 'The upstream of this model takes no video by the id of its task.');
}

export function requireOneOf(param: string, value: string, words: readonly string[]): string {
  if (words.includes(value)) return value;
  throw wrongValue(param, `must be ${listWords(words)} for this model`, `'${value}'`);
}

export const listWords = (words: readonly (string | number)[]): string =>
  words.length === 1 ? words.join('') : `${words.slice(0, -1).join(', ')} or ${String(words.at(-1))}`;

/** Whether a member of metadata may stand among the fields of the upstream's body: it is none of those that the request itself decides. */
export function isFree({ key }: { readonly key: string }): boolean {
  const field = fieldOf(key);
  return field === undefined || field === 'metadata' || field === 'callback_url';
}

/** Whether a member of metadata says what only the request itself can say: who asks for what. */
export function isOwnField({ key }: { readonly key: string }): boolean {
  return ['model', 'prompt', 'user'].includes(fieldOf(key) ?? '');
}

export type FurtherMembers = { readonly members: readonly TextMember[]; readonly ignored: readonly string[] };

/**
 * What goes to the upstream besides the fields that are named in `VideoRequest`, as it was written: the other members of the metadata, and those of the request where it came in
 * the upstream's own interface.
 */
export function collectFurther(request: VideoRequest, protocol: VideoProtocolId): FurtherMembers {
  const further = request.furtherFields === undefined ? [] : listTextMembers(request.furtherFields);
  const own = request.form === protocol ? further : [];
  const ignored = request.form === protocol ? [] : further.map(({ key }) => key);
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

/** What a body says of the fields that cost money. Read from its bytes, not from what they were made of. */
export type SentFields = {
  /** Whether a member is there and not null. */
  readonly has: (key: string, inner?: string) => boolean;
  /** A short value. */
  readonly read: (key: string, inner?: string) => JsonValue | undefined;
  /** How many items a list has; none where it is not there. */
  readonly count: (key: string) => number;
};

const LETTER_N = 0x6e;

/** @throws GatewayError where two members of a body are about the same: a fault of ours that could cost more than it bills */
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

/** Writes the body, and bills what it says. */
export function finishSubmission({ path, members, ignored, bill }: Draft): VideoSubmission {
  const body = Buffer.from(writeTextObject(members));
  return { path, headers: jsonHeaders, body, billing: bill(readSent(body)), ignored };
}
