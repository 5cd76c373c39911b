import type { CallFacts } from '../../inference/call-facts.ts';
import { countTextCharacters } from '../../inference/count-text-characters.ts';
import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import type { WireRequest } from '../chat-dialect.ts';
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
  return max === undefined ? undefined : max * (readCount(pick(config, 'candidateCount')) ?? 1);
}

/** The model is in the path; that of a counted request is used where the path names none. */
export function readRequestedModel({ body, pathModel }: WireRequest): string {
  const model = pathModel ?? pick(pick(body, 'generateContentRequest') ?? body, 'model');
  if (typeof model !== 'string') throw new GatewayError('internal_error', 'The address names no model.');
  return stripModelPrefix(model);
}

/** Reads what routing and pricing need. */
export function readFacts(wireRequest: WireRequest): CallFacts {
  const { body, pathFraming } = wireRequest;
  // A counted request may stand inside.
  const request = pick(body, 'generateContentRequest') ?? body;
  const outputTokensMax = readOutputTokensMax(pick(request, 'generationConfig'));
  const texts = ['contents', 'systemInstruction', 'tools', 'generationConfig'].map((name) => pick(request, name));
  return {
    requestedModel: readRequestedModel(wireRequest),
    stream: pathFraming !== undefined,
    ...(outputTokensMax !== undefined && { outputTokensMax }),
    inputCharacters: countTextCharacters(texts),
    needs: [],
  };
}
