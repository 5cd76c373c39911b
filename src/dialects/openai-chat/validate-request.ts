import type { TSchema } from 'typebox';
import { GatewayError } from '../../inference/gateway-error.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { Operation, ValidationMode } from '../dialect-id.ts';
import type { WireRequest } from '../wire-request.ts';
import { createRequestCheck } from '../request-check.ts';
import { buildRequestSchema } from './request-schema.ts';
import { wordRequestProblem } from './word-request-problem.ts';

type CheckedSchema = { readonly schema: TSchema; readonly check: ReturnType<typeof createRequestCheck> };

function prepare(mode: ValidationMode): CheckedSchema {
  const schema = buildRequestSchema(mode);
  return { schema, check: createRequestCheck(schema) };
}

const schemas: Readonly<Record<ValidationMode, CheckedSchema>> = {
  compatible: prepare('compatible'),
  documented: prepare('documented'),
};

/** The vendor has no token counter for this dialect, so the schema is that of a call. */
export function requestSchema(_operation: Operation, mode: ValidationMode): TSchema {
  return schemas[mode].schema;
}

/**
 * Refuses a malformed request with the vendor's messages. Rules between fields (tools that a choice names, limits of
 * the model) are left to the upstream, because servers of this dialect differ in them.
 * @throws GatewayError for the first problem found
 */
export function validateRequest(request: WireRequest, mode: ValidationMode): void {
  const { schema, check } = schemas[mode];
  if (check(request.body)) return;
  const [problem] = describeProblems(schema, request.body, 1);
  throw problem === undefined
    ? new GatewayError('invalid_value', 'The body is not a chat completions request.')
    : wordRequestProblem(problem);
}
