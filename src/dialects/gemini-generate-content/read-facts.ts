import type { CallFacts } from '../../inference/call-facts.ts';
import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import type { WireRequest } from '../chat-dialect.ts';
import { canonicalizeRequest } from './canonicalize-request.ts';
import { requestSchema } from './request-schema.ts';

/** Names as clients put them into the path: `gemini-x`, `models/gemini-x`, even `models/models/gemini-x`. */
export const stripModelPrefix = (model: string): string => model.replace(/^(models\/)+/, '');

/** All candidates together may use so many tokens: the vendor's bound holds for each. */
function readOutputTokensMax(config: JsonValue | undefined): number | undefined {
  if (!isJsonObject(config) || typeof config.maxOutputTokens !== 'number') return undefined;
  const candidates = typeof config.candidateCount === 'number' ? config.candidateCount : 1;
  return config.maxOutputTokens * candidates;
}

/** The request proper: in a count it may stand inside. */
const findRequest = (canonical: JsonObject): JsonObject =>
  isJsonObject(canonical.generateContentRequest) ? canonical.generateContentRequest : canonical;

/** Reads what routing and pricing need. The model is in the path; that of a counted request is used where the path names none. */
export function readFacts({ operation, body, pathModel, pathFraming }: WireRequest): CallFacts {
  const request = findRequest(canonicalizeRequest(body, requestSchema(operation, 'compatible'), true));
  const model = pathModel ?? request.model;
  if (typeof model !== 'string') throw new GatewayError('internal_error', 'The address names no model.');
  const outputTokensMax = readOutputTokensMax(request.generationConfig);
  const { contents, systemInstruction, tools, generationConfig } = request;
  return {
    requestedModel: stripModelPrefix(model),
    stream: pathFraming !== undefined,
    ...(outputTokensMax !== undefined && { outputTokensMax }),
    inputCharacters: countTextCharacters([contents, systemInstruction, tools, generationConfig]),
    needs: [],
  };
}
