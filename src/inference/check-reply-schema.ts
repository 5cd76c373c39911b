import { createHash } from 'node:crypto';
import { createContext, Script } from 'node:vm';

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';
import { threadMs } from '../platform/thread-ms.ts';

/** Whether a reply is what its schema asks for. */
export type SchemaVerdict =
  | { readonly kind: 'fits' }
  /** What is wrong, in words for a model or a log: `/city: must be string`. At least one. */
  | { readonly kind: 'fails'; readonly problems: readonly string[] }
  /** The schema cannot be checked here: it refers elsewhere, is too large, or takes too long. The reply stands. */
  | { readonly kind: 'unchecked'; readonly reason: string };

const schemaCharactersMax = 200_000;
const replyCharactersMax = 5_000_000;
const problemsMax = 10;

/** Schemas are the clients' own, patterns included: neither may hold the process up. */
const compileMsMax = 500;
const checkMsMax = 250;

const schemasKeptMax = 128;
/** How many times as long an action may be waited for that was kept from working. */
const factorMax = 8;

/** Runs an action that is stopped after so long, whatever it is at: a pattern that backtracks for ever included. */
function runOnce<Result>(msMax: number, action: () => Result): Result {
  const box: { result?: { readonly value: Result } } = {};
  const run = (): void => {
    box.result = { value: action() };
  };
  new Script('run()').runInContext(createContext({ run }), { timeout: msMax });
  if (box.result === undefined) throw new Error('the action did not run');
  return box.result.value;
}

/** The error comes from the other realm, whose `Error` is not ours. */
const isTimeout = (error: unknown): boolean =>
  typeof error === 'object' && error !== null && 'code' in error && error.code === 'ERR_SCRIPT_EXECUTION_TIMEOUT';

/**
 * Runs an action that is stopped after so long. One that was stopped while the system ran other programs in its place has worked for less than a quarter of that: it is
 * begun anew with twice the time, three times at most.
 */
function runWithin<Result>(msMax: number, action: () => Result): Result {
  for (let factor = 1; ; factor *= 2) {
    const startedMs = threadMs();
    try {
      return runOnce(factor * msMax, action);
    } catch (error) {
      if (factor === factorMax || !isTimeout(error) || threadMs() - startedMs >= msMax / 4) throw error;
    }
  }
}

type Compiled = { readonly validate: ValidateFunction } | { readonly reason: string };

/** Compiled schemas by the digest of their text, the most recently used last. */
const compiled = new Map<string, Compiled>();

const ajvOptions = {
  strict: false,
  allErrors: true,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
} as const;

/** A new compiler for each schema, and each attempt: what one defines is unknown to the others, and one that was stopped leaves nothing behind. */
function compile(schema: JsonObject): Compiled {
  try {
    const { $schema: _draft, ...plain } = schema;
    return { validate: runWithin(compileMsMax, () => new Ajv2020(ajvOptions).compile(plain)) };
  } catch (error) {
    return { reason: isTimeout(error) ? 'reading the schema takes too long' : 'the schema cannot be read' };
  }
}

function findCompiled(schema: JsonObject): Compiled {
  const text = JSON.stringify(schema);
  if (text.length > schemaCharactersMax) return { reason: 'the schema is too large' };
  const key = createHash('sha256').update(text).digest('base64');
  const found = compiled.get(key) ?? compile(schema);
  compiled.delete(key);
  compiled.set(key, found);
  const [oldest] = compiled.keys();
  if (compiled.size > schemasKeptMax && oldest !== undefined) compiled.delete(oldest);
  return found;
}

function wordProblem({ instancePath, message = 'is not as the schema wants it', params }: ErrorObject): string {
  const allowed: unknown = params.allowedValues ?? params.allowedValue;
  const values = allowed === undefined ? '' : ` (${JSON.stringify(allowed).slice(0, 200)})`;
  const extra: unknown = params.additionalProperty ?? params.unevaluatedProperty;
  const named = typeof extra === 'string' ? ` ('${extra.slice(0, 100)}')` : '';
  return `${instancePath === '' ? 'the whole' : instancePath.slice(0, 200)}: ${message.slice(0, 300)}${values}${named}`;
}

function check(validate: ValidateFunction, value: JsonValue): SchemaVerdict {
  try {
    const fits = runWithin(checkMsMax, () => validate(value));
    if (fits) return { kind: 'fits' };
    const problems = (validate.errors ?? []).slice(0, problemsMax).map(wordProblem);
    return { kind: 'fails', problems: problems.length === 0 ? ['the whole: is not as the schema wants it'] : [...new Set(problems)] };
  } catch (error) {
    return { kind: 'unchecked', reason: isTimeout(error) ? 'checking the reply takes too long' : 'the schema cannot be applied' };
  } finally {
    // They hold pieces of the reply.
    validate.errors = null;
  }
}

/**
 * Checks the text of a reply against the JSON Schema that was asked for (draft 2020-12; formats are not judged). Never throws; takes at most
 * the time of its limits, and keeps compiled schemas for the next reply.
 */
export function checkReplySchema(text: string, schema: JsonObject): SchemaVerdict {
  if (text.length > replyCharactersMax) return { kind: 'unchecked', reason: 'the reply is too long' };
  let value: JsonValue;
  try {
    value = JSON.parse(text) as JsonValue;
  } catch {
    return { kind: 'fails', problems: ['the whole: is no JSON'] };
  }
  const found = findCompiled(schema);
  return 'reason' in found ? { kind: 'unchecked', reason: found.reason } : check(found.validate, value);
}
