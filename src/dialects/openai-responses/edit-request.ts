import type { JsonEdit } from '../../platform/json/json-edits.ts';
import { locateIn } from '../../platform/json/indexed-object.ts';
import { locateJson } from '../../platform/json/locate-json.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { TargetFit } from '../chat-dialect.ts';
import { mayHave } from '../request-survey.ts';
import type { WireRequest } from '../wire-request.ts';
import { surveyRequest } from './survey-request.ts';

/**
 * The edits that fit a body to its target: the name of the model, and the `domains` of a search, which the contract has
 * and vendors do not.
 */
export function editRequest({ body }: WireRequest, bytes: Buffer, fit: TargetFit): readonly JsonEdit[] {
  const model = editModel(body, bytes, fit);
  return mayHave(surveyRequest, body, 'own-spelling') ? [...model, ...editSearches(body, bytes)] : model;
}

function editModel(body: JsonObject, bytes: Buffer, { upstreamModel }: TargetFit): readonly JsonEdit[] {
  const span = body.model === upstreamModel ? undefined : locateIn(body, bytes, ['model']);
  return span === undefined ? [] : [{ ...span, replacement: JSON.stringify(upstreamModel) }];
}

const isPreview = (value: JsonValue | undefined): value is JsonObject =>
  isJsonObject(value) && typeof value.type === 'string' && value.type.startsWith('web_search_preview');

/**
 * Replaces a search with `domains` by the vendor's newer search, which accepts them as a filter. A tool choice of it is
 * replaced too.
 */
function editSearches({ tools, tool_choice: choice }: JsonObject, bytes: Buffer): readonly JsonEdit[] {
  if (!Array.isArray(tools)) return [];
  const edits = (tools as readonly JsonValue[]).flatMap((tool, index) => {
    if (!isPreview(tool) || tool.domains === undefined) return [];
    const { type: _type, domains, ...others } = tool;
    const isFilter = Array.isArray(domains) && domains.length > 0;
    return replace(bytes, ['tools', index], { type: 'web_search', ...others, ...(isFilter && { filters: { allowed_domains: domains } }) });
  });
  return edits.length === 0 || !isPreview(choice) ? edits : [...edits, ...replace(bytes, ['tool_choice', 'type'], 'web_search')];
}

function replace(bytes: Buffer, path: readonly (string | number)[], value: JsonValue): readonly JsonEdit[] {
  const span = locateJson(bytes, path);
  return span === undefined ? [] : [{ ...span, replacement: JSON.stringify(value) }];
}
