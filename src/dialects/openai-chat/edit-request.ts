import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import { locateJson } from '../../platform/json/locate-json.ts';
import type { TargetFit } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import { spellUsually } from './spell-usually.ts';

/**
 * The edits that fit a validated body to its target. The model gets the target's name. A stream requests a usage chunk,
 * without which the vendor reports no usage; the tap hides it from a client that did not request it. Field forms of one
 * service are passed to that service, and converted to the vendor's form for others.
 */
export function editRequest(request: WireRequest, bytes: Buffer, fit: TargetFit): readonly JsonEdit[] {
  const edits: JsonEdit[] = [];
  if (fit.upstreamModel !== fit.requestedModel) edits.push(replaceAt(bytes, ['model'], JSON.stringify(fit.upstreamModel)));
  if (request.body.stream === true && fit.acceptsStreamOptions) edits.push(...askForUsage(request, bytes));
  if (fit.takesOwnSpellings !== true) edits.push(...spellUsually(request.body, bytes));
  return edits;
}

function askForUsage(request: WireRequest, bytes: Buffer): readonly JsonEdit[] {
  const options = request.body.stream_options;
  if (options === undefined) return [insertMember(bytes, [], '"stream_options":{"include_usage":true}', false)];
  if (!isJsonObject(options)) return [replaceAt(bytes, ['stream_options'], '{"include_usage":true}')];
  if (options.include_usage === true) return [];
  if (options.include_usage !== undefined) return [replaceAt(bytes, ['stream_options', 'include_usage'], 'true')];
  return [insertMember(bytes, ['stream_options'], '"include_usage":true', Object.keys(options).length === 0)];
}

function replaceAt(bytes: Buffer, path: readonly string[], replacement: string): JsonEdit {
  return { ...locate(bytes, path), replacement };
}

/** Inserts a member at the front of the object at `path`. */
function insertMember(bytes: Buffer, path: readonly string[], member: string, isAlone: boolean): JsonEdit {
  const afterBrace = locate(bytes, path).start + 1;
  return { start: afterBrace, end: afterBrace, replacement: isAlone ? member : `${member},` };
}

function locate(bytes: Buffer, path: readonly string[]): { readonly start: number; readonly end: number } {
  const span = locateJson(bytes, path);
  if (span === undefined) throw new TypeError(`the body of a validated request has no ${path.join('.')}`);
  return span;
}
