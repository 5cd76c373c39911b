import type { TranslationNote } from '../inference/translation-notes.ts';
import type { JsonEdit } from '../platform/json/json-edits.ts';
import type { JsonObject } from '../platform/json/json-value.ts';
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
