import type { TranslationNote } from '../inference/translation-notes.ts';
import { locateIn } from '../platform/json/indexed-object.ts';
import type { JsonEdit } from '../platform/json/json-edits.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
import { listMembers, locateJson } from '../platform/json/locate-json.ts';
import type { AccountFacts } from './account-facts.ts';
import type { UpstreamRoute } from './upstream-route.ts';

/** A request that is ready for its dialect. */
export type ShapedRequest = {
  readonly route: UpstreamRoute;
  readonly body: JsonObject;
  /** The text of the body. */
  readonly bytes: Buffer;
  readonly headers: Readonly<Record<string, string>>;
};

/** The changes of a request. All other bytes stay as they are. */
export type RequestChanges = {
  /** They take precedence over edits of the dialect in the same place. */
  readonly edits: readonly JsonEdit[];
  /** Headers that are set, or left out where the value is undefined. */
  readonly headers?: Readonly<Record<string, string | undefined>>;
  /** Notes for the client, which gets them in `x-gateway-warning`. */
  readonly notes?: readonly TranslationNote[];
};

/** Fits requests to a service. Undefined: nothing changes. */
export type Reshape = (request: ShapedRequest, facts: AccountFacts) => RequestChanges | undefined;

/** Joins the edits of a dialect with those of a service, which win where both change the same bytes. */
export function joinEdits(own: readonly JsonEdit[], changes: readonly JsonEdit[]): readonly JsonEdit[] {
  if (changes.length === 0) return own;
  const isTaken = ({ start, end }: JsonEdit): boolean => changes.some((change) => change.start < end && start < change.end);
  return [...own.filter((edit) => !isTaken(edit)), ...changes];
}

/** Applies changes of headers. */
export function changeHeaders(
  headers: Readonly<Record<string, string>>,
  changes: Readonly<Record<string, string | undefined>> = {},
): Record<string, string> {
  const changed = { ...headers };
  for (const [name, value] of Object.entries(changes)) {
    if (value === undefined) delete changed[name];
    else changed[name] = value;
  }
  return changed;
}

/** Edits of the members of an object within a body: those that go, and those that are put in front. */
export type MemberChanges = {
  /** The object. Empty: the whole body. */
  readonly path?: readonly (string | number)[];
  readonly remove?: readonly string[];
  readonly set?: Readonly<Record<string, string>>;
};

/**
 * Writes edits that remove members of an object, with the comma that each takes along, and set others, whose values are
 * JSON texts. The bytes of all other members stay.
 */
export function editMembers({ body, bytes }: Pick<ShapedRequest, 'body' | 'bytes'>, changes: MemberChanges): readonly JsonEdit[] {
  const { path = [], remove = [], set = {} } = changes;
  const span = path.length === 0 ? locateIn(body, bytes, []) : locateJson(bytes, path);
  if (span === undefined) return [];
  const members = listMembers(bytes, span);
  const goes = (key: string): boolean => remove.includes(key) || Object.hasOwn(set, key);
  const kept = members.filter(({ key }) => !goes(key));
  const added = Object.entries(set).map(([name, value]) => `${JSON.stringify(name)}:${value}`);
  const front = `${added.join(',')}${added.length > 0 && kept.length > 0 ? ',' : ''}`;
  const first = members[0];
  if (first === undefined) return front === '' ? [] : [{ start: span.start + 1, end: span.start + 1, replacement: front }];
  const edits: JsonEdit[] = front === '' ? [] : [{ start: first.keySpan.start, end: first.keySpan.start, replacement: front }];
  const lastKept = members.findLastIndex(({ key }) => !goes(key));
  for (const [index, { key, keySpan, valueSpan }] of members.entries()) {
    if (!goes(key)) continue;
    const before = members[index - 1];
    const next = members[index + 1];
    // Behind the last member that stays, the comma before goes along; elsewhere the one behind.
    const isBehind = index > lastKept && lastKept >= 0 && before !== undefined;
    const removed = isBehind
      ? { start: before.valueSpan.end, end: valueSpan.end }
      : { start: keySpan.start, end: next?.keySpan.start ?? valueSpan.end };
    edits.push({ ...removed, replacement: '' });
  }
  return edits;
}
