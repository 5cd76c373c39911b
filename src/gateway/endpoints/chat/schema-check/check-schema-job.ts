import { createHash } from 'node:crypto';

import { Ajv2020, type ErrorObject, type ValidateFunction } from 'ajv/dist/2020.js';

import type { JsonObject, JsonValue } from '../../../../platform/json/json-value.ts';
import { parseJson } from '../../../../platform/json/parse-json.ts';
import { isTimeout, runWithin } from './run-within.ts';

/**
 * A schema as JSON text, and the reply. Without a reply the schema is only compiled, which makes the later check quick.
 */
export type SchemaCheckInput = { readonly schema: string; readonly text?: string };

/** Whether a reply matches its schema. */
export type SchemaVerdict =
  | { readonly kind: 'fits' }
  /** The problems, in words for a model or a log: `/city: must be string`. At least one. */
  | { readonly kind: 'fails'; readonly problems: readonly string[] }
  /** The reply could not be checked: the schema refers to another address, is too large, or takes too long. */
  | { readonly kind: 'unchecked'; readonly reason: string };

const problemsMax = 10;

/**
 * Schemas and their patterns come from clients. The job runs in a thread that can be terminated. A check that exceeds
 * these limits is stopped without terminating the thread, so that its compiled schemas stay cached.
 */
const compileMsMax = 500;
const checkMsMax = 250;

const cachedSchemasMax = 128;
/** Compiled schemas take many times the memory of their text. */
const cachedCharactersMax = 1_000_000;
type Compiled = { readonly characters: number } & ({ readonly validate: ValidateFunction } | { readonly reason: string });

/** Compiled schemas by the digest of their text, the most recently used last. */
const compiled = new Map<string, Compiled>();
let cachedCharacters = 0;

const ajvOptions = {
  strict: false,
  allErrors: true,
  meta: false,
  validateSchema: false,
  validateFormats: false,
  logger: false,
} as const;

/** Each schema and each attempt has a new compiler, so that definitions and interrupted work affect no other schema. */
function compile(text: string): Compiled {
  const characters = text.length;
  try {
    const { $schema: _draft, ...plain } = parseJson(text) as JsonObject;
    return { characters, validate: runWithin(compileMsMax, () => new Ajv2020(ajvOptions).compile(plain)) };
  } catch (error) {
    return { characters, reason: isTimeout(error) ? 'reading the schema takes too long' : 'the schema cannot be read' };
  }
}

function findCompiled(text: string): Compiled {
  const key = createHash('sha256').update(text).digest('base64');
  const cached = compiled.get(key);
  const found = cached ?? compile(text);
  if (cached === undefined) cachedCharacters += found.characters;
  compiled.delete(key);
  compiled.set(key, found);
  for (const [oldest, { characters }] of compiled) {
    if (compiled.size <= cachedSchemasMax && cachedCharacters <= cachedCharactersMax) break;
    compiled.delete(oldest);
    cachedCharacters -= characters;
  }
  return found;
}

function describeProblem({ instancePath, message = 'does not match the schema', params }: ErrorObject): string {
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
    const problems = (validate.errors ?? []).slice(0, problemsMax).map(describeProblem);
    return { kind: 'fails', problems: problems.length === 0 ? ['the whole: does not match the schema'] : [...new Set(problems)] };
  } catch (error) {
    return { kind: 'unchecked', reason: isTimeout(error) ? 'checking the reply takes too long' : 'the schema cannot be applied' };
  } finally {
    // The errors contain pieces of the reply.
    validate.errors = null;
  }
}

function parse(text: string): { readonly value: JsonValue } | undefined {
  try {
    return { value: parseJson(text) };
  } catch {
    return undefined;
  }
}

/**
 * Checks the text of a reply against its JSON Schema (draft 2020-12; formats are ignored). Never throws, takes at most
 * the time of its limits, and keeps compiled schemas for the next reply.
 */
export function run({ schema, text }: SchemaCheckInput): SchemaVerdict {
  const reply = text === undefined ? undefined : parse(text);
  if (text !== undefined && reply === undefined) return { kind: 'fails', problems: ['the whole: is not JSON'] };
  const found = findCompiled(schema);
  if ('reason' in found) return { kind: 'unchecked', reason: found.reason };
  return reply === undefined ? { kind: 'fits' } : check(found.validate, reply.value);
}
