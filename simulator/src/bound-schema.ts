import { isRecord } from './read-json.ts';
import type { Json, JsonRecord } from './simulated-vendor.ts';

/** Number of nested schemas, and their depth. Anything beyond accepts any value. */
const schemasMax = 5000;
const nestingMax = 100;
/** Number of schemas after each reference is replaced by its definition. */
const unfoldedMax = 20_000;
/** A longer sample is useless. */
const itemsMax = 64;
const charactersMax = 2000;
const patternCharactersMax = 500;

/**
 * Keywords whose value is one schema, a list of schemas, or a map of names to schemas. All others are copied unchanged.
 */
const schemaKeywords = ['items', 'additionalProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'];
const schemaListKeywords = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const schemaMapKeywords = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
/** Gemini's int64 members, which proto3 JSON writes as decimal strings. */
const countKeywords = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];
/** The required length of a value, and the most that is generated. */
const leastKeywords = { minItems: itemsMax, minContains: itemsMax, minProperties: itemsMax, minLength: charactersMax };

/** Patterns of names that match in linear time: some text, at the beginning, at the end, or anywhere. */
const plainPattern = /^\^?[\w :/-]{0,64}(?:\.\*)?\$?$/;

/** A schema in two forms: one for writing samples, and one for checking them, which has no patterns. */
export type BoundedSchema = { readonly written: JsonRecord; readonly checked: JsonRecord };

/**
 * A client's schema in the spelling of JSON Schema, with bounds on the cost of a sample. Undefined if its references
 * unfold too far.
 */
export function boundSchema(schema: JsonRecord): BoundedSchema | undefined {
  const written = normalizeSchema(schema, { isChecked: false, left: schemasMax }, 0);
  if (countUnfolded(written) > unfoldedMax) return undefined;
  return { written, checked: normalizeSchema(schema, { isChecked: true, left: schemasMax }, 0) };
}

type Walk = { readonly isChecked: boolean; left: number };

function normalizeSchema(schema: JsonRecord, walk: Walk, depth: number): JsonRecord {
  walk.left -= 1;
  if (depth > nestingMax || walk.left < 0) return {};
  const { nullable, ...result } = schema;
  const nested = (value: Json | undefined): Json | undefined => (isRecord(value) ? normalizeSchema(value, walk, depth + 1) : value);
  for (const keyword of schemaKeywords) if (keyword in result) result[keyword] = nested(result[keyword]);
  for (const keyword of schemaListKeywords) {
    const list = result[keyword];
    if (Array.isArray(list)) result[keyword] = list.slice(0, Math.max(1, walk.left)).map((item) => nested(item) ?? null);
  }
  for (const keyword of schemaMapKeywords) {
    const map = result[keyword];
    if (!isRecord(map)) continue;
    const kept = Object.entries(map).filter(([name]) => keyword !== 'patternProperties' || plainPattern.test(name));
    result[keyword] = Object.fromEntries(kept.map(([name, item]) => [name, nested(item)]));
  }
  for (const keyword of countKeywords) if (typeof result[keyword] === 'string') result[keyword] = Number(result[keyword]);
  limit(result, walk);
  if (typeof result.type === 'string') result.type = result.type.toLowerCase();
  if (result.type === 'type_unspecified') delete result.type;
  // Gemini writes the format `enum` beside the values, which is not a format of JSON Schema.
  if (result.format === 'enum') delete result.format;
  return nullable === true ? { anyOf: [result, { type: 'null' }] } : result;
}

function limit(schema: JsonRecord, { isChecked }: Walk): void {
  for (const [keyword, most] of Object.entries(leastKeywords)) {
    const least = schema[keyword];
    if (typeof least === 'number' && least > most) schema[keyword] = most;
  }
  const { pattern } = schema;
  if (typeof pattern === 'string' && (isChecked || pattern.length > patternCharactersMax)) delete schema.pattern;
}

/**
 * Number of schemas with references replaced, each as often as it is named. A reference to a schema that contains it
 * counts once.
 */
function countUnfolded(root: JsonRecord): number {
  const counts = new Map<JsonRecord, number>();
  const count = (schema: JsonRecord): number => {
    const known = counts.get(schema);
    if (known !== undefined) return known;
    // Found again below itself: it is recursive, and the sample is bounded by its depth.
    counts.set(schema, 1);
    let sum = 1;
    for (const inner of listInner(schema)) sum += count(inner);
    const named = typeof schema.$ref === 'string' ? resolve(root, schema.$ref) : undefined;
    if (named !== undefined) sum += count(named);
    counts.set(schema, sum);
    return sum;
  };
  return count(root);
}

/** The schemas inside a schema. Definitions count where they are referenced. */
function listInner(schema: JsonRecord): JsonRecord[] {
  const one = schemaKeywords.map((keyword) => schema[keyword]);
  const lists = schemaListKeywords.flatMap((keyword) => (Array.isArray(schema[keyword]) ? schema[keyword] : []));
  const maps = ['properties', 'patternProperties', 'dependentSchemas'].flatMap((keyword) => {
    const map = schema[keyword];
    return isRecord(map) ? Object.values(map) : [];
  });
  return [...one, ...lists, ...maps].filter((inner) => isRecord(inner));
}

function resolve(root: JsonRecord, reference: string): JsonRecord | undefined {
  if (!reference.startsWith('#')) return undefined;
  let at: Json | undefined = root;
  for (const name of reference.split('/').slice(1)) {
    if (!isRecord(at)) return undefined;
    at = at[name.replaceAll('~1', '/').replaceAll('~0', '~')];
  }
  return isRecord(at) ? at : undefined;
}
