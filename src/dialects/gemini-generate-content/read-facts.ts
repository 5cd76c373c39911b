import type { CallFacts } from '../../inference/call-facts.ts';
import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import type { WireRequest } from '../wire-request.ts';
import { toSnakeCase } from './canonicalize-request.ts';

/** Names as clients put them into the path: `gemini-x`, `models/gemini-x`, even `models/models/gemini-x`. */
const stripModelPrefix = (model: string): string => model.replace(/^(models\/)+/, '');

/** A member in either spelling. Validation has refused a body with both. */
function pick(object: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(object) ? (object[name] ?? object[toSnakeCase(name)]) : undefined;
}

/** A whole number, or the decimal text that proto JSON allows for one. */
function readCount(value: JsonValue | undefined): number | undefined {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : undefined;
}

/** All candidates together may use so many tokens: the vendor's bound holds for each. */
function readOutputTokensMax(config: JsonValue | undefined): number | undefined {
  const max = readCount(pick(config, 'maxOutputTokens'));
  return max === undefined ? undefined : max * countReplies(config);
}

const countReplies = (config: JsonValue | undefined): number => readCount(pick(config, 'candidateCount')) ?? 1;

/** The model is in the path; that of a counted request is used where the path names none. */
export function readRequestedModel({ body, pathModel }: WireRequest): string {
  const model = pathModel ?? pick(pick(body, 'generateContentRequest') ?? body, 'model');
  if (typeof model !== 'string') throw new GatewayError('internal_error', 'The address names no model.');
  return stripModelPrefix(model);
}

/** The tools that a service runs, by their names here. Validation has read the contract's names as the vendor's. */
const builtInTools: Readonly<Record<string, BuiltInToolKind>> = {
  googleSearch: 'web-search',
  googleSearchRetrieval: 'web-search',
  vendorSearch: 'web-search',
  vendorSearchRetrieval: 'web-search',
  codeExecution: 'code-execution',
  urlContext: 'url-context',
};

/** Each kind of tool that is offered, once. A single tool may stand in place of a list; null is the same as nothing. */
function listBuiltInTools(tools: JsonValue | undefined): readonly BuiltInToolKind[] {
  if (tools === undefined) return [];
  const kinds = new Set<BuiltInToolKind>();
  for (const tool of Array.isArray(tools) ? tools : [tools]) {
    if (!isJsonObject(tool)) continue;
    for (const [name, kind] of Object.entries(builtInTools)) if ((pick(tool, name) ?? null) !== null) kinds.add(kind);
  }
  return [...kinds];
}

/** Its schemas are always meant to the letter. Of several candidates none is the reply. */
function hasSchema(config: JsonValue | undefined): boolean {
  if (countReplies(config) > 1) return false;
  // JSON of any form is a promise like that of a schema.
  if (pick(config, 'responseMimeType') === 'application/json') return true;
  return ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'].some((name) => isJsonObject(pick(config, name)));
}

/** Reads what routing and pricing need. */
export function readFacts(wireRequest: WireRequest): CallFacts {
  const { body, pathFraming } = wireRequest;
  // A counted request may stand inside.
  const request = pick(body, 'generateContentRequest') ?? body;
  const config = pick(request, 'generationConfig');
  const outputTokensMax = readOutputTokensMax(config);
  const replies = countReplies(config);
  const offered = listBuiltInTools(pick(request, 'tools'));
  const texts = ['contents', 'systemInstruction', 'tools', 'generationConfig'].map((name) => pick(request, name));
  return {
    requestedModel: readRequestedModel(wireRequest),
    stream: pathFraming !== undefined,
    ...(outputTokensMax !== undefined && { outputTokensMax }),
    ...(replies > 1 && { replies }),
    inputCharacters: countTextCharacters(texts),
    needs: [],
    ...(hasSchema(config) && { strictSchema: true }),
    ...(offered.length > 0 && { builtInTools: offered }),
  };
}
