import { createHash } from 'node:crypto';
import { type JsonSchema, generateSync } from 'json-schema-faker';
import { Check } from 'typebox/schema';
import { isRecord } from './read-json.ts';
import type { Json, JsonRecord } from './simulated-vendor.ts';

const attemptsMax = 6;
const nestingMax = 100;

// Text made of these reads as a sample and not as an answer.
const words =
  'amber birch cedar delta ember fjord grove harbor island juniper kelp lagoon meadow north orchid pebble quartz river spruce tundra umber valley willow yarrow zephyr'.split(
    ' ',
  );

/** Keywords whose value is one schema, a list of schemas, or a map of names to schemas. Everything else is copied untouched. */
const schemaKeywords = ['items', 'additionalProperties', 'contains', 'propertyNames', 'not', 'if', 'then', 'else'];
const schemaListKeywords = ['anyOf', 'oneOf', 'allOf', 'prefixItems'];
const schemaMapKeywords = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'];
/** Gemini's int64 members, which proto3 JSON writes as decimal strings. */
const countKeywords = ['minItems', 'maxItems', 'minLength', 'maxLength', 'minProperties', 'maxProperties'];

/**
 * A value that is valid for a JSON Schema: the same schema and seed always give the same value. Accepts the draft 2020-12 subset that
 * vendors take, and Gemini's spelling of it (upper-case types, `nullable`, counts as strings). Strings are made of words, arrays and
 * objects are small, optional members are present or not as the seed decides. A schema that nothing can satisfy, or that refers to a
 * definition it does not have, gives the closest value found instead of an error: judging schemas is the vendor format's business.
 */
export function sampleSchema(schema: JsonRecord, seed: string): Json {
  const normalized = normalizeSchema(schema, 0);
  let closest: Json = {};
  for (let attempt = 0; attempt < attemptsMax; attempt += 1) {
    const value = generate(normalized, `${seed}/${attempt}`, attempt < attemptsMax / 2);
    if (value === undefined) continue;
    if (isValid(normalized, value)) return value;
    closest = value;
  }
  return closest;
}

function generate(schema: JsonRecord, seed: string, withWords: boolean): Json | undefined {
  try {
    const value = generateSync(schema, {
      seed: hash(seed),
      maxDepth: 8,
      refDepthMin: 0,
      refDepthMax: 3,
      maxDefaultItems: 3,
      optionalsProbability: 0.6,
      minDateTime: '2026-01-01T00:00:00Z',
      maxDateTime: '2026-12-31T23:59:59Z',
      ...(withWords && { outputTransform: (output, at, path) => toWords(output, at, `${seed}${path}`) }),
    });
    return value === undefined ? undefined : (value as Json);
  } catch {
    // The library throws for references without a definition and for contradictions; the caller then tries again or gives up.
    return undefined;
  }
}

/** Replaces the random letters of a free string by words, within the schema's length. */
function toWords(value: unknown, schema: JsonSchema, seed: string): unknown {
  if (typeof value !== 'string' || typeof schema === 'boolean') return value;
  if (schema.enum || 'const' in schema || schema.pattern !== undefined || schema.format !== undefined || !schema.type) return value;
  const lengthMin = schema.minLength ?? 0;
  const lengthMax = schema.maxLength ?? Math.max(24, lengthMin + 8);
  const picked: string[] = [];
  let state = hash(seed);
  const countMin = 1 + (state % 2);
  while (picked.length < countMin || picked.join(' ').length < lengthMin) {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    picked.push(words[(state >>> 8) % words.length] ?? 'amber');
  }
  // A cut must not leave a space at the end, which some formats trim away.
  return picked.join(' ').slice(0, lengthMax).replace(/ $/, 'x');
}

function isValid(schema: JsonRecord, value: Json): boolean {
  try {
    return Check(schema, value);
  } catch {
    // A reference without a definition cannot be checked.
    return false;
  }
}

function hash(text: string): number {
  return createHash('sha256').update(text).digest().readUInt32BE(0) & 0x7fffffff;
}

function normalizeSchema(schema: JsonRecord, depth: number): JsonRecord {
  if (depth > nestingMax) return {};
  const { nullable, ...result } = schema;
  const nested = (value: Json | undefined): Json | undefined => (isRecord(value) ? normalizeSchema(value, depth + 1) : value);
  for (const keyword of schemaKeywords) if (keyword in result) result[keyword] = nested(result[keyword]);
  for (const keyword of schemaListKeywords) {
    const list = result[keyword];
    if (Array.isArray(list)) result[keyword] = list.map((item) => nested(item) ?? null);
  }
  for (const keyword of schemaMapKeywords) {
    const map = result[keyword];
    if (isRecord(map)) result[keyword] = Object.fromEntries(Object.entries(map).map(([name, item]) => [name, nested(item)]));
  }
  for (const keyword of countKeywords) if (typeof result[keyword] === 'string') result[keyword] = Number(result[keyword]);
  if (typeof result.type === 'string') result.type = result.type.toLowerCase();
  if (result.type === 'type_unspecified') delete result.type;
  // Gemini writes the format `enum` beside the values, which is none of JSON Schema's formats.
  if (result.format === 'enum') delete result.format;
  return nullable === true ? { anyOf: [result, { type: 'null' }] } : result;
}
