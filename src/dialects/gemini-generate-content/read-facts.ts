import type { CallFacts } from '../../inference/call-facts.ts';
import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import type { BuiltInToolKind } from '../../inference/inference-request.ts';
import { namesIn } from '../../platform/json/indexed-object.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import type { WireRequest } from '../wire-request.ts';
import { toSnakeCase } from './canonicalize-request.ts';
import { surveyRequest } from './survey-request.ts';

/** Removes prefixes that clients put before a name: `gemini-x`, `models/gemini-x`, even `models/models/gemini-x`. */
const stripModelPrefix = (model: string): string => model.replace(/^(models\/)+/, '');

/** Reads a member in either spelling. Validation has refused a body with both. */
function pick(object: JsonValue | undefined, name: string): JsonValue | undefined {
  return isJsonObject(object) ? (object[name] ?? object[toSnakeCase(name)]) : undefined;
}

/** Reads a whole number, or its decimal text, which proto JSON allows. */
function readCount(value: JsonValue | undefined): number | undefined {
  const count = typeof value === 'string' ? Number(value) : value;
  return typeof count === 'number' && Number.isSafeInteger(count) ? count : undefined;
}

/** Computes the limit of output tokens for all candidates together; the vendor's limit applies to each. */
function readOutputTokensMax(config: JsonValue | undefined): number | undefined {
  const max = readCount(pick(config, 'maxOutputTokens'));
  return max === undefined ? undefined : max * countReplies(config);
}

const countReplies = (config: JsonValue | undefined): number => readCount(pick(config, 'candidateCount')) ?? 1;

/** Reads the model from the path, or from the counted request if the path has none. */
export function readRequestedModel({ body, pathModel }: WireRequest): string {
  const model = pathModel ?? pick(pick(body, 'generateContentRequest') ?? body, 'model');
  if (typeof model !== 'string') throw new GatewayError('internal_error', 'The address names no model.');
  return stripModelPrefix(model);
}

/** The built-in tools by their names here. Validation has replaced the contract's names with the vendor's. */
const builtInTools: Readonly<Record<string, BuiltInToolKind>> = {
  googleSearch: 'web-search',
  googleSearchRetrieval: 'web-search',
  vendorSearch: 'web-search',
  vendorSearchRetrieval: 'web-search',
  codeExecution: 'code-execution',
  urlContext: 'url-context',
};

/** Lists each kind of offered tool once, by the members of each tool. */
function listBuiltInTools(tools: readonly (readonly string[])[]): readonly BuiltInToolKind[] {
  const kinds = new Set<BuiltInToolKind>();
  for (const members of tools) {
    for (const [name, kind] of Object.entries(builtInTools))
      if (members.includes(name) || members.includes(toSnakeCase(name))) kinds.add(kind);
  }
  return [...kinds];
}

/** Whether the answer has a schema, which is always strict here. With several candidates, none is the reply. */
function hasSchema(config: JsonValue | undefined): boolean {
  if (countReplies(config) > 1) return false;
  // A request for any JSON is as strict as one for a schema.
  if (pick(config, 'responseMimeType') === 'application/json') return true;
  return ['responseSchema', 'responseJsonSchema', '_responseJsonSchema'].some((name) => isJsonObject(pick(config, name)));
}

const textMembers = ['contents', 'systemInstruction', 'tools', 'generationConfig'];

/** Reads what routing and pricing need. */
export function readFacts(wireRequest: WireRequest): CallFacts {
  const { body, pathFraming } = wireRequest;
  // A count may contain the request.
  const inner = pick(body, 'generateContentRequest');
  const request = isJsonObject(inner) ? inner : body;
  const config = pick(request, 'generationConfig');
  const outputTokensMax = readOutputTokensMax(config);
  const replies = countReplies(config);
  const offered = listBuiltInTools(namesIn(request, 'tools'));
  return {
    requestedModel: readRequestedModel(wireRequest),
    stream: pathFraming !== undefined,
    ...(outputTokensMax !== undefined && { outputTokensMax }),
    ...(replies > 1 && { replies }),
    inputCharacters: surveyRequest(request)?.textCharacters ?? countTextCharacters(textMembers.map((name) => pick(request, name))),
    needs: [],
    ...(hasSchema(config) && { strictSchema: true }),
    ...(offered.length > 0 && { builtInTools: offered }),
  };
}
