import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { locateIn } from '../../platform/json/indexed-object.ts';
import type { JsonSpan } from '../../platform/json/json-span.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import type { TargetFit } from '../chat-dialect.ts';
import { mayHave } from '../request-survey.ts';
import type { WireRequest } from '../wire-request.ts';
import { spellUsually } from './spell-usually.ts';
import { surveyRequest } from './survey-request.ts';

/**
 * The edits that fit a validated body to its target. The model gets the target's name. A stream requests a usage chunk,
 * without which the vendor reports no usage; the tap hides it from a client that did not request it. Field forms of one
 * service are passed to that service, and converted to the vendor's form for others.
 */
export function editRequest({ body }: WireRequest, bytes: Buffer, fit: TargetFit): readonly JsonEdit[] {
  const edits: JsonEdit[] = [];
  const place = { body, bytes };
  if (fit.upstreamModel !== fit.requestedModel) edits.push(replaceAt(place, ['model'], JSON.stringify(fit.upstreamModel)));
  if (body.stream === true && fit.acceptsStreamOptions) edits.push(...askForUsage(place));
  if (fit.takesOwnSpellings !== true && mayHave(surveyRequest, body, 'own-spelling')) edits.push(...spellUsually(body, bytes));
  return edits;
}

type Place = { readonly body: JsonObject; readonly bytes: Buffer };

function askForUsage(place: Place): readonly JsonEdit[] {
  const options = place.body.stream_options;
  if (options === undefined) return [insertMember(place, [], '"stream_options":{"include_usage":true}', false)];
  if (!isJsonObject(options)) return [replaceAt(place, ['stream_options'], '{"include_usage":true}')];
  if (options.include_usage === true) return [];
  if (options.include_usage !== undefined) return [replaceAt(place, ['stream_options', 'include_usage'], 'true')];
  return [insertMember(place, ['stream_options'], '"include_usage":true', Object.keys(options).length === 0)];
}

function replaceAt(place: Place, path: readonly string[], replacement: string): JsonEdit {
  return { ...locate(place, path), replacement };
}

/** Inserts a member at the front of the object at `path`. */
function insertMember(place: Place, path: readonly string[], member: string, isAlone: boolean): JsonEdit {
  const afterBrace = locate(place, path).start + 1;
  return { start: afterBrace, end: afterBrace, replacement: isAlone ? member : `${member},` };
}

function locate({ body, bytes }: Place, path: readonly string[]): JsonSpan {
  const span = locateIn(body, bytes, path);
  if (span === undefined) throw new TypeError(`the body of a validated request has no ${path.join('.')}`);
  return span;
}
