import type { TSchema } from 'typebox';
import { Format } from 'typebox/format';
import { Guard } from 'typebox/guard';
import { Hashing } from 'typebox/system';
import { abbreviateText } from '../json/abbreviate-text.ts';
import { describeUnion } from './describe-union.ts';
import { abbreviateValue, isOfJsonType, jsonTypeOf } from './json-type.ts';
import { createRefResolver, toSchemaNode } from './schema-node.ts';
import type { ResolveRef, Schema, SchemaNode } from './schema-node.ts';
import type { SchemaProblem } from './schema-problem.ts';
import { literalsOf, showLiterals, typeNamesOf, unique } from './union-branches.ts';

// Variants are checked one by one, and may nest. This bounds the total work on a hostile value.
const STEPS_MAX = 50_000;

type Walk = {
  readonly resolve: ResolveRef;
  /** The path of the current node. Problems get a copy. */
  readonly path: (string | number)[];
  readonly problems: SchemaProblem[];
  readonly limit: number;
  readonly budget: { steps: number };
};

/**
 * Lists why a value does not fit a TypeBox schema, in the order of the schema; empty exactly if the compiled check
 * passes. Slower than the compiled check, so use it only after a failure.
 *
 * @param limit the most problems to report, at least 1
 */
export function describeProblems(schema: TSchema, value: unknown, limit = 10): SchemaProblem[] {
  const root = toSchemaNode(schema);
  const walk: Walk = { resolve: createRefResolver(root), path: [], problems: [], limit: Math.max(1, limit), budget: { steps: STEPS_MAX } };
  walkSchema(walk, root, value);
  return walk.problems;
}

function walkSchema(walk: Walk, schema: Schema, value: unknown): void {
  if (walk.problems.length >= walk.limit) return;
  if (walk.budget.steps-- <= 0) return report(walk, 'no-variant', 'a value with fewer or simpler parts', jsonTypeOf(value));
  if (typeof schema === 'boolean') return schema ? undefined : report(walk, 'unknown-field', [], jsonTypeOf(value));
  const problemsBefore = walk.problems.length;
  if (!walkType(walk, schema, value) || !walkLiterals(walk, schema, value)) return;
  if (typeof value === 'string') walkString(walk, schema, value);
  else if (typeof value === 'number' && Number.isFinite(value)) walkNumber(walk, schema, value);
  else if (Array.isArray(value)) walkArray(walk, schema, value);
  else if (isRecord(value)) walkObject(walk, schema, value);
  walkCombinations(walk, schema, value);
  if (walk.problems.length > problemsBefore) return;
  for (const refinement of schema['~refine'] ?? []) {
    if (!refinement.check(value)) report(walk, 'refine', refinement.error(value), abbreviateValue(value));
  }
}

function walkType(walk: Walk, schema: SchemaNode, value: unknown): boolean {
  if (schema.type === undefined) return true;
  const types = typeof schema.type === 'string' ? [schema.type] : schema.type;
  if (types.some((type) => isOfJsonType(value, type))) return true;
  report(walk, 'type', typeof schema.type === 'string' ? schema.type : types, jsonTypeOf(value));
  return false;
}

function walkLiterals(walk: Walk, schema: SchemaNode, value: unknown): boolean {
  for (const literals of [Object.hasOwn(schema, 'const') ? [schema.const] : undefined, schema.enum]) {
    if (literals === undefined || literals.some((literal) => Guard.IsDeepEqual(literal, value))) continue;
    report(walk, 'enum', showLiterals(literals), abbreviateValue(value));
    return false;
  }
  return true;
}

function walkString(walk: Walk, schema: SchemaNode, value: string): void {
  const { minLength, maxLength, pattern, format } = schema;
  // Counts code points with the functions of the compiled check. The rest of a text that is far too long is not
  // counted.
  if (minLength !== undefined && !Guard.IsMinLength(value, minLength)) report(walk, 'min-length', minLength, Guard.CodePointCount(value));
  if (maxLength !== undefined && !Guard.IsMaxLength(value, maxLength)) report(walk, 'max-length', maxLength, Guard.CodePointCount(value));
  if (format !== undefined && !Format.Test(format, value)) report(walk, 'pattern', format, abbreviateText(value));
  if (pattern !== undefined && !toRegExp(pattern).test(value)) report(walk, 'pattern', String(pattern), abbreviateText(value));
}

function walkNumber(walk: Walk, schema: SchemaNode, value: number): void {
  const { minimum, maximum, exclusiveMinimum, exclusiveMaximum, multipleOf } = schema;
  if (minimum !== undefined && !(value >= minimum)) report(walk, 'minimum', minimum, value);
  if (exclusiveMinimum !== undefined && !(value > exclusiveMinimum)) report(walk, 'exclusive-minimum', exclusiveMinimum, value);
  if (maximum !== undefined && !(value <= maximum)) report(walk, 'maximum', maximum, value);
  if (exclusiveMaximum !== undefined && !(value < exclusiveMaximum)) report(walk, 'exclusive-maximum', exclusiveMaximum, value);
  if (multipleOf !== undefined && !Guard.IsMultipleOf(value, multipleOf)) report(walk, 'multiple-of', multipleOf, value);
}

function walkArray(walk: Walk, schema: SchemaNode, value: readonly unknown[]): void {
  const { minItems, maxItems } = schema;
  if (minItems !== undefined && value.length < minItems) report(walk, 'min-items', minItems, value.length);
  if (maxItems !== undefined && value.length > maxItems) report(walk, 'max-items', maxItems, value.length);
  if (schema.uniqueItems === true && new Set(value.map((item) => Hashing.Hash(item))).size !== value.length) {
    report(walk, 'unique-items', 'items that differ from each other', value.length);
  }
  const prefix = isSchemaList(schema.items) ? schema.items : (schema.prefixItems ?? []);
  const rest = isSchemaList(schema.items) ? schema.additionalItems : schema.items;
  // One surplus item is reported: a tuple of a million items is one mistake.
  if (rest === false && value.length > prefix.length) return report(walk, 'max-items', prefix.length, value.length);
  for (let index = 0; index < value.length && walk.problems.length < walk.limit; index++) {
    const item = index < prefix.length ? prefix[index] : rest;
    if (item === undefined) break;
    walkMember(walk, item, value[index], index);
  }
}

function walkObject(walk: Walk, schema: SchemaNode, value: Readonly<Record<string, unknown>>): void {
  for (const key of schema.required ?? []) {
    if (!Guard.HasPropertyKey(value, key)) reportMissing(walk, schema, key);
  }
  for (const [key, property] of Object.entries(schema.properties ?? {})) {
    if (!Guard.HasPropertyKey(value, key) || (value[key] === undefined && !schema.required?.includes(key))) continue;
    walkMember(walk, property, value[key], key);
  }
  if (schema.patternProperties === undefined && schema.additionalProperties === undefined && !hasKeyRules(schema)) return;
  const keys = Object.getOwnPropertyNames(value);
  if (schema.minProperties !== undefined && keys.length < schema.minProperties)
    report(walk, 'min-properties', schema.minProperties, keys.length);
  if (schema.maxProperties !== undefined && keys.length > schema.maxProperties)
    report(walk, 'max-properties', schema.maxProperties, keys.length);
  walkOpenKeys(walk, schema, value, keys);
}

function hasKeyRules(schema: SchemaNode): boolean {
  return schema.minProperties !== undefined || schema.maxProperties !== undefined || schema.propertyNames !== undefined;
}

/** The keys that `properties` does not name. */
function walkOpenKeys(walk: Walk, schema: SchemaNode, value: Readonly<Record<string, unknown>>, keys: readonly string[]): void {
  const patterns = Object.entries(schema.patternProperties ?? {}).map(([pattern, property]) => ({ pattern: toRegExp(pattern), property }));
  const { properties = {}, additionalProperties = true, propertyNames } = schema;
  for (const key of keys) {
    if (walk.problems.length >= walk.limit) return;
    if (propertyNames !== undefined) walkMember(walk, propertyNames, key, key);
    const matches = patterns.filter(({ pattern }) => pattern.test(key));
    for (const { property } of matches) walkMember(walk, property, value[key], key);
    if (matches.length > 0 || Object.hasOwn(properties, key)) continue;
    if (additionalProperties === false) reportUnknown(walk, Object.keys(properties), key, value[key]);
    else if (additionalProperties !== true) walkMember(walk, additionalProperties, value[key], key);
  }
}

function walkCombinations(walk: Walk, schema: SchemaNode, value: unknown): void {
  for (const part of schema.allOf ?? []) walkSchema(walk, part, value);
  if (schema.anyOf !== undefined) walkUnion(walk, schema.anyOf, value);
  if (schema.oneOf !== undefined) {
    const fitting = schema.oneOf.filter((branch) => tryBranch(walk, branch, value).length === 0);
    if (fitting.length > 1) report(walk, 'no-variant', 'a value that fits one variant only', abbreviateValue(value));
    if (fitting.length === 0) walkUnion(walk, schema.oneOf, value);
  }
  if (schema.not !== undefined && tryBranch(walk, schema.not, value).length === 0) reportForbidden(walk, schema.not, value);
  if (schema.$ref !== undefined) walkSchema(walk, walk.resolve(schema.$ref) ?? false, value);
}

function walkUnion(walk: Walk, branches: readonly Schema[], value: unknown): void {
  const describeBranch = (branch: Schema) => tryBranch(walk, branch, value);
  const problems = describeUnion({ branches, value, path: [...walk.path], resolve: walk.resolve, describeBranch });
  walk.problems.push(...problems.slice(0, walk.limit - walk.problems.length));
}

function tryBranch(walk: Walk, branch: Schema, value: unknown): readonly SchemaProblem[] {
  const trial: Walk = { ...walk, problems: [] };
  walkSchema(trial, branch, value);
  return trial.problems;
}

function walkMember(walk: Walk, schema: Schema, value: unknown, key: string | number): void {
  walk.path.push(typeof key === 'string' ? abbreviateText(key) : key);
  walkSchema(walk, schema, value);
  walk.path.pop();
}

function report(walk: Walk, rule: SchemaProblem['rule'], expected: SchemaProblem['expected'], actual: SchemaProblem['actual']): void {
  if (walk.problems.length >= walk.limit) return;
  walk.problems.push({ path: [...walk.path], rule, expected, ...(actual !== undefined && { actual }) });
}

function reportMissing(walk: Walk, schema: SchemaNode, key: string): void {
  const property = schema.properties?.[key];
  const literals = property === undefined ? undefined : literalsOf(property, walk.resolve);
  const names = property === undefined ? [] : typeNamesOf(property, walk.resolve);
  const types = names.length === 1 ? (names[0] ?? []) : unique(names);
  walk.path.push(key);
  report(walk, 'required', literals === undefined ? types : showLiterals(literals), undefined);
  walk.path.pop();
}

function reportUnknown(walk: Walk, known: readonly string[], key: string, value: unknown): void {
  walk.path.push(abbreviateText(key));
  report(walk, 'unknown-field', known, jsonTypeOf(value));
  walk.path.pop();
}

/** `{ not: {} }` is TypeBox's `Never`: a field that must not be there. */
function reportForbidden(walk: Walk, not: Schema, value: unknown): void {
  const isNever = not === true || (typeof not === 'object' && Object.keys(not).length === 0);
  if (isNever && walk.path.length > 0) report(walk, 'unknown-field', [], jsonTypeOf(value));
  else report(walk, 'no-variant', 'a different value', abbreviateValue(value));
}

// The compiled check builds its expressions with this flag.
function toRegExp(pattern: string | RegExp): RegExp {
  return typeof pattern === 'string' ? new RegExp(pattern, 'u') : pattern;
}

function isSchemaList(items: SchemaNode['items']): items is readonly Schema[] {
  return Array.isArray(items);
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null;
}
