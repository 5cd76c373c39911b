import { GatewayError } from '../../inference/gateway-error.ts';
import { indexOf } from '../../platform/json/indexed-object.ts';
import { jsonKind, noNode } from '../../platform/json/json-index.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import type { WireRequest } from '../wire-request.ts';
import { createRequestCheck } from '../request-check.ts';
import { requireTriggerLast } from './compaction.ts';
import { requestSchema } from './request-schema.ts';
import { wordRequestProblem } from './word-request-problem.ts';

const compatible = createRequestCheck(requestSchema('generate', 'compatible'));
const documented = createRequestCheck(requestSchema('generate', 'documented'));

/** The contract describes only requests that generate; the others are the vendor's. */
const checkOf = (operation: Operation, mode: ValidationMode): ((body: JsonObject) => boolean) =>
  mode === 'documented' && operation === 'generate' ? documented : compatible;

const isAbsent = (value: JsonValue | undefined): value is null | undefined => value === undefined || value === null;

/** The same for a member that need not be parsed. */
function isAbsentIn(body: JsonObject, name: string): boolean {
  const index = indexOf(body);
  if (index === undefined) return isAbsent(body[name]);
  const value = index.find(0, name);
  return value === noNode || index.kind(value) === jsonKind.null;
}

/** Fields that bring their own history, so that the input may be absent. */
const inputSubstitutes = ['previous_response_id', 'conversation', 'prompt'] as const;

const hasOtherContext = (body: JsonObject): boolean => inputSubstitutes.some((name) => !isAbsent(body[name]));

/** In the schema the input is optional. The vendor accepts its absence only if the context comes from elsewhere. */
function requireInput(body: JsonObject): void {
  if (isAbsentIn(body, 'input') && !hasOtherContext(body))
    throw wordRequestProblem({ path: ['input'], rule: 'required', expected: ['string', 'array'] });
}

function refuseTwoHistories(body: JsonObject): void {
  if (isAbsent(body.previous_response_id) || isAbsent(body.conversation)) return;
  throw new GatewayError(
    'invalid_value',
    "Mutually exclusive parameters: 'previous_response_id' and 'conversation'. Send only one of them: each names a history to continue.",
    { param: 'previous_response_id', details: { openai_code: 'mutually_exclusive_parameters' } },
  );
}

function mentionsJson(value: JsonValue | undefined): boolean {
  if (typeof value === 'string') return /json/i.test(value);
  if (typeof value !== 'object' || value === null) return false;
  return Object.values(value).some(mentionsJson);
}

/**
 * JSON mode works only if the prompt mentions JSON, and the vendor refuses a request that does not. Earlier responses
 * and prompt templates are unknown here, so only a request with its whole context is refused.
 */
function requireJsonInstruction(body: JsonObject): void {
  const format = isJsonObject(body.text) ? body.text.format : undefined;
  if (!isJsonObject(format) || format.type !== 'json_object' || hasOtherContext(body)) return;
  if (mentionsJson(body.input) || mentionsJson(body.instructions)) return;
  throw new GatewayError(
    'invalid_value',
    "Response input messages must contain the word 'json' in some form to use 'text.format' of type 'json_object'.",
    { param: 'input', details: { openai_code: 'invalid_value' } },
  );
}

/**
 * Refuses a body that contract B (4.2) refuses, with the vendor's wording, `param` and machine code.
 *
 * @throws GatewayError missing_required_field, unknown_field or invalid_value
 */
export function validateRequest({ operation, body }: WireRequest, mode: ValidationMode): void {
  if (!checkOf(operation, mode)(body)) {
    const [problem] = describeProblems(requestSchema(operation, mode), body, 1);
    throw problem === undefined
      ? new GatewayError('invalid_value', 'The request body does not fit the interface.')
      : wordRequestProblem(problem);
  }
  // Instructions and tools can be counted without input.
  if (operation !== 'count-tokens') requireInput(body);
  requireTriggerLast(body);
  refuseTwoHistories(body);
  requireJsonInstruction(body);
}
