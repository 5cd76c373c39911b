import type { TSchema } from 'typebox';
import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { SchemaProblem } from '../../platform/schema/schema-problem.ts';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import type { WireRequest } from '../wire-request.ts';
import { type KnownOperation, knownOperation } from '../known-operation.ts';
import { wordProblem } from '../word-problem.ts';
import { checkHeaders } from './check-headers.ts';
import { createRequestCheck } from '../request-check.ts';
import { mayHave } from '../request-survey.ts';
import { buildRequestSchema } from './request-schema.ts';
import { surveyRequest } from './survey-request.ts';

type CheckedSchema = { readonly schema: TSchema; readonly check: ReturnType<typeof createRequestCheck> };

function prepare(operation: Operation, mode: ValidationMode): CheckedSchema {
  const schema = buildRequestSchema(operation, mode);
  return { schema, check: createRequestCheck(schema) };
}

const schemas: Readonly<Record<KnownOperation, Readonly<Record<ValidationMode, CheckedSchema>>>> = {
  generate: { compatible: prepare('generate', 'compatible'), documented: prepare('generate', 'documented') },
  'count-tokens': { compatible: prepare('count-tokens', 'compatible'), documented: prepare('count-tokens', 'documented') },
};

export function requestSchema(operation: Operation, mode: ValidationMode): TSchema {
  return schemas[knownOperation(operation)][mode].schema;
}

/**
 * Refuses requests that violate the contract, in the vendor's form: `path: reason`. The vendor checks rules that only
 * it knows (results that match their calls, limits of the model).
 * @throws GatewayError for the first problem found
 */
export function validateRequest(request: WireRequest, mode: ValidationMode): void {
  checkHeaders(request.headers, mode);
  const { schema, check } = schemas[knownOperation(request.operation)][mode];
  if (!check(request.body)) {
    const problem = pickProblem(describeProblems(schema, request.body));
    throw problem === undefined ? new GatewayError('invalid_value', 'the body is not a Messages request') : toError(problem);
  }
  checkThinkingBudget(request.body);
  if (mayHave(surveyRequest, request.body, 'empty-turn')) checkEmptyTexts(request.body);
}

/** Picks the first problem, unless its object has the wrong `type`: then missing members only follow from that. */
function pickProblem(problems: readonly SchemaProblem[]): SchemaProblem | undefined {
  const [first] = problems;
  const parent = JSON.stringify(first?.path.slice(0, -1));
  const wrongType = problems.find(
    ({ path, rule }) => rule === 'enum' && path.at(-1) === 'type' && JSON.stringify(path.slice(0, -1)) === parent,
  );
  return first?.rule === 'required' ? (wrongType ?? first) : first;
}

function toError(problem: SchemaProblem): GatewayError {
  const param = problem.path.join('.');
  const prefix = param === '' ? 'body' : param;
  const options = { ...(param !== '' && { param }) };
  if (problem.rule === 'required') return new GatewayError('missing_required_field', `${prefix}: Field required`, options);
  if (problem.rule === 'unknown-field') return new GatewayError('unknown_field', `${prefix}: Extra inputs are not permitted`, options);
  return new GatewayError('invalid_value', `${prefix}: ${wordProblem(problem)}`, options);
}

function checkThinkingBudget(body: JsonObject): void {
  const { thinking, max_tokens: maxTokens } = body;
  if (!isJsonObject(thinking) || thinking.type !== 'enabled' || typeof maxTokens !== 'number') return;
  const budget = thinking.budget_tokens;
  if (typeof budget !== 'number' || budget < maxTokens) return;
  const param = 'thinking.budget_tokens';
  throw new GatewayError('invalid_value', `${param}: must be less than max_tokens (${maxTokens}), but got ${budget}`, { param });
}

/** The vendor requires content in every turn, except in the last one if it is a prefill. */
function checkEmptyTexts(body: JsonObject): void {
  const messages = Array.isArray(body.messages) ? body.messages : [];
  messages.forEach((message, index) => {
    if (!isJsonObject(message) || message.content !== '') return;
    if (index === messages.length - 1 && message.role === 'assistant') return;
    const param = `messages.${index}.content`;
    throw new GatewayError('invalid_value', `${param}: must have at least 1 character, but got 0`, { param });
  });
}
