import { type Static, type TObject, type TSchema, Type } from 'typebox';

import { compileCheckLater } from '../platform/schema/compile-check.ts';
import { describeProblems } from '../platform/schema/describe-problems.ts';
import type { SchemaProblem } from '../platform/schema/schema-problem.ts';
import type { Input, RawInput } from './operation.ts';
import { AdminProblem, type FieldProblem } from './problem.ts';
import { placeWords, wordProblem } from './word-problem.ts';

type Place = 'params' | 'query' | 'body';
type Read<Value> = (value: unknown) => Value;

const nothing = Type.Object({}, { additionalProperties: false });
/** Problems that one answer lists. */
const problemsMax = 20;

/** A reader of the parts of a request by their schemas, which are compiled at their first use. */
export function readInput<Params extends TObject, Query extends TObject, Body extends TSchema>(schemas: {
  readonly params: Params | undefined;
  readonly query: Query | undefined;
  readonly body: Body | undefined;
}): (input: RawInput) => Input<Static<Params>, Static<Query>, Static<Body>> {
  const params = reader('params', schemas.params ?? nothing) as Read<Static<Params>>;
  const query = reader('query', schemas.query ?? nothing) as Read<Static<Query>>;
  const body = schemas.body === undefined ? refuseBody : reader('body', schemas.body);
  return (input) => ({
    params: params(input.params),
    query: query(decodeQuery(schemas.query ?? nothing, input.query)),
    body: body(input.body) as Static<Body>,
  });
}

function refuseBody(value: unknown): undefined {
  if (value === undefined) return undefined;
  throw new AdminProblem('invalid_request', 'This operation takes no body.');
}

function reader<Schema extends TSchema>(place: Place, schema: Schema): Read<Static<Schema>> {
  const fits = compileCheckLater(schema);
  return (value) => {
    refuseNul(place, value, []);
    if (fits(value)) return value;
    const errors = describeProblems(schema, value, problemsMax).map((problem) => describeField(place, problem));
    throw new AdminProblem('invalid_request', errors.map(({ detail }) => detail).join(' '), { errors });
  };
}

/** Databases cannot keep the character U+0000, so no text may have it. @throws AdminProblem `invalid_request` */
function refuseNul(place: Place, value: unknown, path: readonly (string | number)[]): void {
  if (typeof value === 'string' && value.includes('\u0000')) {
    const detail = `The ${placeWords[place]} ${path.join('.')} must not contain the character U+0000.`;
    throw new AdminProblem('invalid_request', detail, { errors: [{ ...placeOf(place, path), code: 'nul', detail }] });
  }
  if (typeof value !== 'object' || value === null) return;
  for (const [name, member] of Object.entries(value)) refuseNul(place, member, [...path, name]);
}

function describeField(place: Place, problem: SchemaProblem): FieldProblem {
  const detail = wordProblem(place, problem);
  const code = problem.rule.replaceAll('-', '_');
  return { ...placeOf(place, problem.path), code, detail };
}

function placeOf(place: Place, path: readonly (string | number)[]): Pick<FieldProblem, 'pointer' | 'parameter'> {
  if (place === 'body') return { pointer: path.map((step) => `/${escapeStep(String(step))}`).join('') };
  return { parameter: String(path[0] ?? '') };
}

/** A step of a JSON Pointer (RFC 6901). */
const escapeStep = (step: string): string => step.replaceAll('~', '~0').replaceAll('/', '~1');

/** A property of a query's schema, as far as decoding needs it. */
type Property = { readonly type?: string; readonly items?: Property; readonly anyOf?: readonly Property[] };

/**
 * Query parameters as the values that their schema names: integers, booleans, and lists of what may repeat. A text that
 * is not such a value stays a text, which the schema then refuses.
 */
function decodeQuery(schema: TObject, query: RawInput['query']): Record<string, unknown> {
  const properties: Readonly<Record<string, Property>> = schema.properties;
  return Object.fromEntries(
    Object.entries(query).map(([name, texts]) => {
      const property = Object.hasOwn(properties, name) ? properties[name] : undefined;
      if (property?.type === 'array') return [name, texts.map((text) => decodeText(property.items, text))];
      return [name, texts.length === 1 ? decodeText(property, texts[0] ?? '') : texts];
    }),
  );
}

function decodeText(property: Property | undefined, text: string): unknown {
  if (property?.type === 'integer' && /^-?\d{1,15}$/.test(text)) return Number(text);
  if (property?.type === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}
