import { GatewayError } from '../../inference/gateway-error.ts';
import { indexOf } from '../../platform/json/indexed-object.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';
import { compileCheckLater } from '../../platform/schema/compile-check.ts';
import { compileIndexCheck } from '../../platform/schema/compile-index-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { IndexCheck } from '../../platform/schema/index-check.ts';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import type { WireRequest } from '../wire-request.ts';
import { type KnownOperation, knownOperation } from '../known-operation.ts';
import { canonicalizeRequest, spellings } from './canonicalize-request.ts';
import { requestSchema } from './request-schema.ts';
import { wordRequestProblem } from './word-request-problem.ts';

type Check = (value: unknown) => boolean;

const compile = (operation: Operation): Readonly<Record<ValidationMode, Check>> => ({
  compatible: compileCheckLater(requestSchema(operation, 'compatible')),
  documented: compileCheckLater(requestSchema(operation, 'documented')),
});

const checks: Readonly<Record<KnownOperation, Readonly<Record<ValidationMode, Check>>>> = {
  generate: compile('generate'),
  'count-tokens': compile('count-tokens'),
};

let indexCheck: IndexCheck | undefined;

/** Whether the index of a request to generate shows that it is valid, in any of its spellings. */
function isValidIndex(body: JsonObject): boolean {
  const index = indexOf(body);
  return index !== undefined && (indexCheck ??= compileIndexCheck(requestSchema('generate', 'compatible'), spellings))(index, 0);
}

/** Checks a count, which has exactly one of `contents` and `generateContentRequest`. */
function checkCountChoice(canonical: JsonObject): void {
  const hasContents = canonical.contents !== undefined;
  const hasRequest = canonical.generateContentRequest !== undefined;
  if (hasContents && hasRequest) {
    const message = "'contents' and 'generateContentRequest' are mutually exclusive. Send only one of them.";
    throw new GatewayError('invalid_value', message, { param: 'generateContentRequest' });
  }
  if (hasContents || hasRequest) return;
  throw new GatewayError('missing_required_field', "Missing required field 'contents'. Send 'contents' or 'generateContentRequest'.", {
    param: 'contents',
  });
}

/**
 * Contract C, 4.3: the models that search, by the names of their family. Names that an operator gives its models do not
 * show that.
 */
const searching = /^gemini-(?:3\.1-(?:pro|.*image)|3-(?:flash|pro-image)|2\.5-(?:pro|flash)|2\.0-flash(?!-lite))/;
const searchTools = ['googleSearch', 'googleSearchRetrieval', 'vendorSearch', 'vendorSearchRetrieval'];

function checkSearchModel({ tools }: JsonObject, model: string): void {
  const name = model.replace(/^models\//, '');
  if (!Array.isArray(tools) || !name.startsWith('gemini-') || searching.test(name)) return;
  if (!tools.some((tool) => isJsonObject(tool) && searchTools.some((search) => search in tool))) return;
  throw new GatewayError('invalid_value', `'tools': the model ${name.slice(0, 256)} does not support the search tool.`, { param: 'tools' });
}

/**
 * Refuses a body that violates contract C (2.1, 4.1). The body is read by the rules of proto JSON; its bytes are
 * unchanged.
 *
 * @throws GatewayError missing_required_field, unknown_field or invalid_value
 */
export function validateRequest({ operation, body, pathModel }: WireRequest, mode: ValidationMode): void {
  if (operation === 'generate' && mode === 'compatible' && isValidIndex(body)) return;
  const schema = requestSchema(operation, mode);
  const canonical = canonicalizeRequest(body, schema, mode === 'compatible');
  if (!checks[knownOperation(operation)][mode](canonical)) {
    const [problem] = describeProblems(schema, canonical, 1);
    throw problem === undefined
      ? new GatewayError('invalid_value', 'The request body does not fit the interface.')
      : wordRequestProblem(problem, body);
  }
  if (operation === 'count-tokens') checkCountChoice(canonical);
  else if (mode === 'documented') checkSearchModel(canonical, pathModel ?? '');
}
