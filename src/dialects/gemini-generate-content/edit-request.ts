import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { listMembers, locateJson } from '../../platform/json/locate-json.ts';
import type { TargetFit } from '../chat-dialect.ts';
import type { WireRequest } from '../wire-request.ts';
import { neutralToolKeys } from './canonicalize-request.ts';
import { surveyRequest } from './survey-request.ts';

const hasNeutralName = (tool: JsonValue | undefined): boolean =>
  isJsonObject(tool) && Object.keys(tool).some((name) => Object.hasOwn(neutralToolKeys, name));

/** Renames the keys of one entry of `tools`; their values are unchanged. */
function renameToolKeys(bytes: Buffer, path: readonly (string | number)[]): readonly JsonEdit[] {
  const span = locateJson(bytes, path);
  if (span === undefined) return [];
  return listMembers(bytes, span).flatMap(({ key, keySpan }) => {
    const name = Object.hasOwn(neutralToolKeys, key) ? neutralToolKeys[key] : undefined;
    return name === undefined ? [] : [{ ...keySpan, replacement: JSON.stringify(name) }];
  });
}

const inRequests = ['generateContentRequest', 'generate_content_request'];

/** Lists the bodies of the request: itself, and inside a count the counted request. */
function listRequests(body: JsonObject): readonly { readonly request: JsonObject; readonly path: readonly string[] }[] {
  const inner = inRequests.flatMap((name) => {
    const request = body[name];
    return isJsonObject(request) ? [{ request, path: [name] }] : [];
  });
  return [{ request: body, path: [] }, ...inner];
}

/** Edits the model in a counted request, which must be the one in the path. */
function editModel(bytes: Buffer, request: JsonObject, path: readonly string[], fit: TargetFit): readonly JsonEdit[] {
  const { model } = request;
  if (path.length === 0 || typeof model !== 'string') return [];
  const upstreamModel = fit.upstreamModel.includes('/') ? fit.upstreamModel : `models/${fit.upstreamModel}`;
  const span = model === upstreamModel ? undefined : locateJson(bytes, [...path, 'model']);
  return span === undefined ? [] : [{ ...span, replacement: JSON.stringify(upstreamModel) }];
}

/**
 * Edits a request. The model is in the path, so only the contract's names of the search tools, and the model inside a
 * count, change.
 */
export function editRequest({ body }: WireRequest, bytes: Buffer, fit: TargetFit): readonly JsonEdit[] {
  if (surveyRequest(body)?.mayHave('own-spelling') === false && inRequests.every((name) => body[name] === undefined)) return [];
  return listRequests(body).flatMap(({ request, path }) => {
    const { tools } = request;
    const edits = [...editModel(bytes, request, path, fit)];
    if (Array.isArray(tools)) {
      for (const [index, tool] of (tools as readonly JsonValue[]).entries()) {
        if (hasNeutralName(tool)) edits.push(...renameToolKeys(bytes, [...path, 'tools', index]));
      }
    } else if (hasNeutralName(tools)) {
      edits.push(...renameToolKeys(bytes, [...path, 'tools']));
    }
    return edits;
  });
}
