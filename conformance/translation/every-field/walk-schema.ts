import type { JsonObject, JsonValue } from '../../../src/platform/json/json-value.ts';
import { isJsonObject } from '../../../src/platform/json/json-value.ts';
import { createRefResolver, type Schema, type SchemaNode } from '../../../src/platform/schema/schema-node.ts';
import { sampleNumbers, sampleText } from './sample-values.ts';

/**
 * One possible value of a field, and the same value around it without that field, or with another value if the field is
 * required.
 */
export type Probe = {
  /** Names of members from the root, and `[]` for an entry of a list. */
  readonly path: readonly string[];
  readonly with: JsonValue;
  readonly without: JsonValue;
  /**
   * A value that must be found again if the field is carried. Absent for enumerations and switches, which other
   * dialects spell differently.
   */
  readonly marker?: string;
  /** Whether `without` has another value of the field. */
  readonly isReplaced?: boolean;
};

/**
 * Required content of a free-form value, which the schema does not describe. By the path as it is written in messages.
 */
export type GivenValues = Readonly<Record<string, JsonValue>>;

type Walk = {
  readonly resolve: (ref: string) => Schema | undefined;
  readonly given: GivenValues;
  /** References that are being followed: a recursive schema is walked once. */
  readonly open: ReadonlySet<string>;
};

/** `messages[].content[].cache_control`. */
export const writePath = (path: readonly string[]): string => path.join('.').replaceAll('.[]', '[]');

/**
 * Every field of a schema, with each of its enumeration values and variants, inside the minimal value that the schema
 * accepts.
 */
export function walkSchema(schema: SchemaNode, given: GivenValues): readonly Probe[] {
  return probe(schema, [], { resolve: createRefResolver(schema), given, open: new Set() });
}

function follow(schema: Schema | undefined, walk: Walk): { readonly node: SchemaNode; readonly walk: Walk } | undefined {
  if (schema === undefined || typeof schema === 'boolean') return undefined;
  if (schema.$ref === undefined) return { node: schema, walk };
  if (walk.open.has(schema.$ref)) return undefined;
  return follow(walk.resolve(schema.$ref), { ...walk, open: new Set([...walk.open, schema.$ref]) });
}

const variantsOf = (node: SchemaNode): readonly Schema[] | undefined => node.anyOf ?? node.oneOf;

const isNull = (schema: Schema): boolean => typeof schema !== 'boolean' && schema.type === 'null';

/** A member that must not exist. */
const isForbidden = (schema: Schema): boolean => typeof schema === 'object' && schema.not !== undefined && schema.type === undefined;

/** A variant for future types. */
function isOpenVariant(schema: Schema): boolean {
  if (typeof schema === 'boolean') return true;
  const type = schema.properties?.['type'];
  return type !== undefined && typeof type !== 'boolean' && type.not !== undefined;
}

const listVariants = (node: SchemaNode): readonly Schema[] =>
  (variantsOf(node) ?? []).filter((variant) => !isNull(variant) && !isOpenVariant(variant));

const wordsOf = (node: SchemaNode): readonly JsonValue[] | undefined => {
  const words = node.const !== undefined ? [node.const] : node.enum;
  return words?.filter((word) => word !== null && !(typeof word === 'string' && word.endsWith('UNSPECIFIED'))) as
    | readonly JsonValue[]
    | undefined;
};

/** The minimal value that a schema accepts. */
function least(schema: Schema | undefined, path: readonly string[], walk: Walk): JsonValue {
  const given = walk.given[writePath(path)];
  if (given !== undefined) return given;
  const found = follow(schema, walk);
  if (found === undefined) return innermost(schema, path, walk);
  const { node } = found;
  const [word] = wordsOf(node) ?? [];
  if (word !== undefined) return word;
  const [variant] = listVariants(node);
  if (variant !== undefined) return least(variant, path, found.walk);
  switch (String(node.type)) {
    case 'object':
      return leastObject(node, path, found.walk);
    case 'array':
      return [least(node.items as Schema | undefined, [...path, '[]'], found.walk)];
    case 'integer':
    case 'number':
      return sampleNumbers(node)[0];
    case 'boolean':
      return true;
    default:
      return sampleText(node, writePath(path));
  }
}

/** The value for a recursive or empty schema. */
function innermost(schema: Schema | undefined, path: readonly string[], { given }: Walk): JsonValue {
  const ref = typeof schema === 'object' ? schema.$ref : undefined;
  return (ref === undefined ? undefined : given[`$${ref}`]) ?? sampleText({}, writePath(path));
}

function leastObject(node: SchemaNode, path: readonly string[], walk: Walk): JsonObject {
  if (Object.keys(node.properties ?? {}).length === 0) {
    // Its members are the client's own.
    const [own] = Object.values(node.patternProperties ?? {});
    return { sample: own === undefined ? `sample ${writePath(path)}` : least(own, path, walk) };
  }
  const members = Object.entries(node.properties ?? {}).filter(([name]) => node.required?.includes(name) === true);
  return Object.fromEntries(members.map(([name, schema]) => [name, least(schema, [...path, name], walk)]));
}

function probe(schema: Schema | undefined, path: readonly string[], walk: Walk): readonly Probe[] {
  if (Object.hasOwn(walk.given, writePath(path))) return [];
  const found = follow(schema, walk);
  if (found === undefined) return [];
  const { node } = found;
  const words = wordsOf(node);
  if (words !== undefined) return probeWords(words, path);
  const variants = listVariants(node);
  if (variants.length > 0) return probeVariants(variants, path, found.walk);
  switch (String(node.type)) {
    case 'object':
      return probeObject(node, path, found.walk);
    case 'array':
      return probe(node.items as Schema | undefined, [...path, '[]'], found.walk).map((inner) => ({
        ...inner,
        with: [inner.with],
        without: [inner.without],
      }));
    case 'integer':
    case 'number': {
      const [first, second] = sampleNumbers(node);
      return [{ path, with: second, without: first, isReplaced: true }];
    }
    default:
      return [];
  }
}

function probeWords([first, ...others]: readonly JsonValue[], path: readonly string[]): readonly Probe[] {
  return first === undefined ? [] : others.map((word) => ({ path, with: word, without: first, isReplaced: true }));
}

function probeVariants(variants: readonly Schema[], path: readonly string[], walk: Walk): readonly Probe[] {
  const [first, ...others] = variants.map((variant) => least(variant, path, walk));
  if (first === undefined) return [];
  return [
    ...others.map((variant) => ({ path, with: variant, without: first, isReplaced: true })),
    ...variants.flatMap((variant) => probe(variant, path, walk)),
  ];
}

function probeObject(node: SchemaNode, path: readonly string[], walk: Walk): readonly Probe[] {
  const base = leastObject(node, path, walk);
  return Object.entries(node.properties ?? {}).flatMap(([name, schema]) => {
    if (isForbidden(schema)) return [];
    const place = [...path, name];
    const around = (value: JsonValue): JsonObject => ({ ...base, [name]: value });
    const inner = probe(schema, place, walk).map((one) => ({ ...one, with: around(one.with), without: around(one.without) }));
    if (node.required?.includes(name) === true) return inner;
    const values = valuesOf(schema, place, walk).filter((value) => !isEmpty(value));
    // Its other values are tested against its absence.
    const deeper = inner.filter(({ path: at }) => at.length > place.length);
    return [...values.map((value) => ({ path: place, with: around(value), without: base, ...markerOf(value) })), ...deeper];
  });
}

/**
 * The test values of an optional field: each enumeration value, both sides of a switch, and the minimal value of every
 * variant.
 */
function valuesOf(schema: Schema, path: readonly string[], walk: Walk): readonly JsonValue[] {
  const given = walk.given[writePath(path)];
  if (given !== undefined) return [given];
  const found = follow(schema, walk);
  if (found === undefined)
    return schema === true || (typeof schema !== 'boolean' && schema.$ref === undefined) ? [least(schema, path, walk)] : [];
  const { node } = found;
  const words = wordsOf(node);
  if (words !== undefined) return words;
  if (node.type === 'boolean') return [true, false];
  const variants = listVariants(node);
  if (variants.length > 0) return variants.flatMap((variant) => valuesOf(variant, path, found.walk));
  return [least(node, path, found.walk)];
}

/** An empty object has no effect: its members are tested one by one. */
function isEmpty(value: JsonValue): boolean {
  if (Array.isArray(value)) return value.every((entry) => isJsonObject(entry) && isEmpty(entry));
  return isJsonObject(value) && Object.keys(value).length === 0;
}

function markerOf(value: JsonValue): { readonly marker?: string } {
  if (typeof value === 'string' && value.includes('sample')) return { marker: value };
  return Array.isArray(value) && value.length === 1 ? markerOf(value[0] as JsonValue) : {};
}
