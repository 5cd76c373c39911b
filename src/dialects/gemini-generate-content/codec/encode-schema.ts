import { meaningOf, membersOf, numberOf, objectOf, objectsOf, textOf, textsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** How often a definition is expanded within itself. Deeper data may be any object. */
const recursionsMax = 2;

/**
 * Deeper schemas, or schemas with more nodes after the expansion of references, are cut: the vendor refuses them, and
 * some are infinite.
 */
const depthMax = 24;
const nodesMax = 2000;

/**
 * The maximum of members that are read. References that fan out, or a wide definition that is used a thousand times,
 * would otherwise cost the square of the input, or an exponential.
 */
const membersMax = 250_000;

type Walk = {
  readonly root: JsonObject;
  readonly lost: Set<string>;
  nodes: number;
  members: number;
};

/** Counts the members of a step. False if there are too many, and the schema is cut here. */
function spend(walk: Walk, schema: JsonObject): boolean {
  if (walk.members > membersMax) return false;
  walk.members += 1 + Object.keys(schema).length;
  return true;
}

/** The position of the walk: the references that led to it. */
type Trail = { readonly refs: readonly string[]; readonly depth: number };

const types: Readonly<Record<string, string>> = {
  string: 'STRING',
  number: 'NUMBER',
  integer: 'INTEGER',
  boolean: 'BOOLEAN',
  array: 'ARRAY',
  object: 'OBJECT',
  null: 'NULL',
};

/** Keywords that are read here, and those that do not restrict the data. Any other is lost, and noted. */
const knownKeywords: ReadonlySet<string> = new Set(
  [
    '$schema $id $ref $defs $anchor $comment definitions title description default examples example deprecated readOnly writeOnly strict',
    'type enum const nullable anyOf oneOf allOf items prefixItems properties required propertyOrdering pattern format',
    'minItems maxItems minLength maxLength minimum maximum minProperties maxProperties',
  ].flatMap((words) => words.split(' ')),
);

/** A schema that does not restrict the type: any plain value, or an object. */
const anything: JsonObject = { anyOf: [{ type: 'STRING' }, { type: 'NUMBER' }, { type: 'BOOLEAN' }, { type: 'OBJECT' }] };

/**
 * Converts JSON Schema into the subset of `parameters` and `responseSchema`: references are expanded, `const` and
 * `oneOf` are replaced, null becomes `nullable`, and keywords that the vendor refuses are left out.
 *
 * @returns the schema, and the lost keywords that restricted the data
 */
export function encodeSchema(schema: JsonObject): { readonly schema: JsonObject; readonly lost: readonly string[] } {
  const walk: Walk = { root: schema, lost: new Set(), nodes: 0, members: 0 };
  return { schema: simplify(walk, schema, { refs: [], depth: 0 }), lost: [...walk.lost] };
}

/**
 * The same for a function's parameters, which are an object or absent: the vendor refuses an object without properties
 * there.
 */
export function encodeParameters(schema: JsonObject): { readonly schema?: JsonObject; readonly lost: readonly string[] } {
  const { schema: simple, lost } = encodeSchema(schema);
  const object = simple.anyOf === undefined ? simple : joinVariants(simple);
  const isEmpty = !isJsonObject(object.properties);
  return { ...(isEmpty ? {} : { schema: object }), lost: simple.anyOf === undefined || isEmpty ? lost : [...lost, 'anyOf'] };
}

/** Merges variants into one object that accepts everything that any variant accepts. */
function joinVariants({ anyOf, ...rest }: JsonObject): JsonObject {
  const variants = objectsOf(anyOf).filter((variant) => variant.type === 'OBJECT');
  const [first, ...others] = variants;
  const required = textsOf(first?.required).filter((name) => others.every((variant) => textsOf(variant.required).includes(name)));
  const properties: JsonObject = Object.fromEntries(variants.flatMap((variant) => Object.entries(membersOf(variant.properties))));
  return {
    ...rest,
    type: 'OBJECT',
    ...(Object.keys(properties).length === 0 ? {} : { properties }),
    ...(required.length === 0 ? {} : { required }),
  };
}

function simplify(walk: Walk, value: JsonValue | undefined, trail: Trail): JsonObject {
  walk.nodes += 1;
  if (walk.nodes > nodesMax || trail.depth > depthMax) {
    walk.lost.add('depth');
    return anything;
  }
  if (!isJsonObject(value)) return anything;
  if (!spend(walk, value)) {
    walk.lost.add('depth');
    return anything;
  }
  const resolved = resolve(walk, value, trail);
  if (resolved === undefined) return { type: 'OBJECT', ...described(value) };
  const schema = joinAllOf(walk, resolved.schema, resolved.trail);
  for (const keyword of Object.keys(schema)) if (isLost(keyword, schema[keyword])) walk.lost.add(keyword);
  return simplifyNode(walk, schema, { ...resolved.trail, depth: trail.depth + 1 });
}

function isLost(keyword: string, value: JsonValue | undefined): boolean {
  // The vendor's models write closed objects anyway. Exclusive bounds are handled where the vendor can express them.
  if (keyword === 'additionalProperties') return isJsonObject(value) && Object.keys(value).length > 0;
  return !knownKeywords.has(keyword) && !keyword.startsWith('x-') && !keyword.startsWith('exclusive');
}

/** The maximum of references on one path into a schema. */
const refsMax = 64;

/**
 * Follows references, merging the members beside them. Undefined for a definition that is missing or repeats itself too
 * often.
 */
function resolve(walk: Walk, schema: JsonObject, trail: Trail): { readonly schema: JsonObject; readonly trail: Trail } | undefined {
  const { $ref, ...beside } = schema;
  if (typeof $ref !== 'string') return { schema, trail };
  if (trail.refs.length >= refsMax || trail.refs.filter((ref) => ref === $ref).length >= recursionsMax) {
    walk.lost.add('$ref');
    return undefined;
  }
  const target = findTarget(walk.root, $ref);
  if (!isJsonObject(target) || !spend(walk, target)) {
    walk.lost.add('$ref');
    return undefined;
  }
  return resolve(walk, { ...target, ...beside }, { ...trail, refs: [...trail.refs, $ref] });
}

/** Finds the schema at a JSON pointer in the document. */
function findTarget(root: JsonObject, ref: string): JsonValue | undefined {
  if (!ref.startsWith('#')) return undefined;
  let node: JsonValue | undefined = root;
  for (const step of ref
    .slice(1)
    .split('/')
    .filter((name) => name !== '')) {
    const name = step.replaceAll('~1', '/').replaceAll('~0', '~');
    if (Array.isArray(node)) node = (node as readonly JsonValue[])[Number(name)];
    else node = isJsonObject(node) && Object.hasOwn(node, name) ? node[name] : undefined;
  }
  return node;
}

/** Schemas that are being merged. They are collected in place, because there may be thousands. */
type Joined = {
  readonly members: Map<string, JsonValue | undefined>;
  readonly properties: Map<string, JsonValue | undefined>;
  readonly required: Set<string>;
};

function addSchema({ members, properties, required }: Joined, schema: JsonObject): void {
  for (const [name, value] of Object.entries(schema)) if (name !== 'allOf') members.set(name, value);
  for (const [name, value] of Object.entries(objectOf(schema.properties) ?? {})) properties.set(name, value);
  for (const name of textsOf(schema.required)) required.add(name);
}

function addAll(walk: Walk, joined: Joined, schema: JsonObject, trail: Trail): void {
  addSchema(joined, schema);
  for (const item of objectsOf(schema.allOf)) {
    const resolved = spend(walk, item) ? resolve(walk, item, trail) : undefined;
    if (resolved !== undefined) addAll(walk, joined, resolved.schema, resolved.trail);
  }
}

/** Merges several schemas into one: later members apply, properties and required names are joined. */
function joinAllOf(walk: Walk, schema: JsonObject, trail: Trail): JsonObject {
  if (schema.allOf === undefined) return schema;
  const joined: Joined = { members: new Map(), properties: new Map(), required: new Set() };
  addAll(walk, joined, schema, trail);
  return {
    ...Object.fromEntries(joined.members),
    ...(joined.properties.size === 0 ? {} : { properties: Object.fromEntries(joined.properties) }),
    ...(joined.required.size === 0 ? {} : { required: [...joined.required] }),
  };
}

const described = (schema: JsonObject): JsonObject => {
  const description = textOf(schema.description);
  return description === undefined ? {} : { description };
};

const isNull = (schema: JsonObject): boolean => schema.type === 'null' || schema.type === 'NULL';

function simplifyNode(walk: Walk, schema: JsonObject, trail: Trail): JsonObject {
  const listed = schema.const === undefined ? schema : { ...schema, enum: [schema.const] };
  const named = (Array.isArray(listed.type) ? textsOf(listed.type) : [textOf(listed.type)]).flatMap((type) =>
    type === undefined ? [] : [type.toLowerCase()],
  );
  const supportedTypes = [...new Set(named)].filter((type) => type !== 'null' && Object.hasOwn(types, type));
  const variants = objectsOf(listed.anyOf ?? listed.oneOf);
  const choices = variants.filter((variant) => !isNull(variant));
  const isNullable =
    listed.nullable === true ||
    (named.includes('null') && supportedTypes.length > 0) ||
    choices.length < variants.length ||
    (Array.isArray(listed.enum) && listed.enum.includes(null));
  const nullable: JsonObject = isNullable ? { nullable: true } : {};
  if (choices.length > 0 && !isJsonObject(listed.properties)) return simplifyChoice(walk, listed, choices, { nullable, trail });
  if (choices.length > 0) walk.lost.add('anyOf');
  if (supportedTypes.length > 1) {
    return simplifyChoice(
      walk,
      listed,
      supportedTypes.map((type) => ({ ...listed, type, description: undefined })),
      { nullable, trail },
    );
  }
  const type = named[0] === 'null' && supportedTypes.length === 0 ? 'null' : (supportedTypes[0] ?? guessType(listed));
  const name = meaningOf(type, types);
  if (name === undefined) return { ...anything, ...described(listed) };
  return { type: name, ...annotate(listed), ...nullable, ...simplifyTyped(walk, name, listed, trail) };
}

type ChoiceContext = { readonly nullable: JsonObject; readonly trail: Trail };

/** Simplifies alternatives. The vendor allows nothing beside `anyOf`, so each variant repeats the common members. */
function simplifyChoice(walk: Walk, schema: JsonObject, choices: readonly JsonObject[], { nullable, trail }: ChoiceContext): JsonObject {
  const simple = choices.map((choice) => {
    const variant = simplify(walk, choice, trail);
    return { ...(variant.anyOf === undefined ? described(schema) : {}), ...variant, ...(variant.anyOf === undefined ? nullable : {}) };
  });
  const flat = simple.flatMap((variant: JsonObject) => (variant.anyOf === undefined ? [variant] : objectsOf(variant.anyOf)));
  const [only] = flat;
  return flat.length === 1 && only !== undefined ? only : { anyOf: flat };
}

/** Finds the type of a schema that does not name it. */
function guessType(schema: JsonObject): string | undefined {
  const has = (...keywords: readonly string[]): boolean => keywords.some((keyword) => schema[keyword] !== undefined);
  if (has('properties', 'required', 'additionalProperties', 'patternProperties')) return 'object';
  if (has('items', 'prefixItems', 'minItems', 'maxItems')) return 'array';
  const [value] = Array.isArray(schema.enum) ? (schema.enum as readonly JsonValue[]).filter((item) => item !== null) : [];
  if (value !== undefined) return typeof value === 'object' ? undefined : typeof value;
  if (has('pattern', 'minLength', 'maxLength')) return 'string';
  return has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum', 'multipleOf') ? 'number' : undefined;
}

/** Writes title and description. Values that an `enum` of the vendor cannot list are in the description. */
function annotate(schema: JsonObject): JsonObject {
  const title = textOf(schema.title);
  const values = Array.isArray(schema.enum) ? (schema.enum as readonly JsonValue[]) : [];
  const unlistable = values.filter((value) => value !== null && typeof value !== 'string');
  const allowed = unlistable.length === 0 ? [] : [`Allowed values: ${unlistable.map((value) => JSON.stringify(value)).join(', ')}.`];
  const description = [...(textOf(schema.description) === undefined ? [] : [textOf(schema.description)]), ...allowed].join(' ');
  return { ...(title === undefined ? {} : { title }), ...(description === '' ? {} : { description }) };
}

function simplifyTyped(walk: Walk, type: string, schema: JsonObject, trail: Trail): JsonObject {
  switch (type) {
    case 'OBJECT':
      return simplifyObject(walk, schema, trail);
    case 'ARRAY':
      return { items: simplifyItems(walk, schema, trail), ...counts(schema, 'minItems', 'maxItems') };
    case 'STRING':
      return simplifyText(schema);
    case 'NUMBER':
    case 'INTEGER':
      return simplifyNumber(walk, type, schema);
    default:
      return {};
  }
}

function simplifyObject(walk: Walk, schema: JsonObject, trail: Trail): JsonObject {
  const properties = Object.entries(membersOf(schema.properties)).map(([name, value]): [string, JsonObject] => [
    name,
    simplify(walk, value, trail),
  ]);
  const names = new Set(properties.map(([name]) => name));
  const required = textsOf(schema.required).filter((name) => names.has(name));
  return {
    ...(properties.length === 0 ? {} : { properties: Object.fromEntries(properties) }),
    ...(required.length === 0 ? {} : { required }),
    ...counts(schema, 'minProperties', 'maxProperties'),
  };
}

/** Converts a tuple into a list of any of its items. */
function simplifyItems(walk: Walk, schema: JsonObject, trail: Trail): JsonObject {
  const tuple = Array.isArray(schema.items) ? schema.items : schema.prefixItems;
  if (!Array.isArray(tuple)) return simplify(walk, schema.items, trail);
  const items = objectsOf(tuple);
  return items.length === 0 ? anything : simplifyChoice(walk, {}, items, { nullable: {}, trail });
}

function simplifyText(schema: JsonObject): JsonObject {
  // The vendor refuses an empty value in an enum.
  const words = textsOf(schema.enum).filter((word) => word !== '');
  return {
    ...(words.length === 0 ? {} : { enum: [...new Set(words)] }),
    ...(schema.format === 'date-time' ? { format: 'date-time' } : {}),
    ...(typeof schema.pattern === 'string' ? { pattern: schema.pattern } : {}),
    ...counts(schema, 'minLength', 'maxLength'),
  };
}

const numberFormats: Readonly<Record<string, readonly unknown[]>> = { NUMBER: ['float', 'double'], INTEGER: ['int32', 'int64'] };

/** Writes bounds. An exclusive bound of an integer becomes the inclusive bound beside it. */
function simplifyNumber(walk: Walk, type: 'NUMBER' | 'INTEGER', schema: JsonObject): JsonObject {
  const above = numberOf(schema.exclusiveMinimum);
  const below = numberOf(schema.exclusiveMaximum);
  const isWhole = type === 'INTEGER';
  if (!isWhole && (above !== undefined || below !== undefined)) walk.lost.add('exclusiveMinimum/exclusiveMaximum');
  const minimum = numberOf(schema.minimum) ?? (isWhole && above !== undefined ? Math.floor(above) + 1 : undefined);
  const maximum = numberOf(schema.maximum) ?? (isWhole && below !== undefined ? Math.ceil(below) - 1 : undefined);
  return {
    ...(numberFormats[type]?.includes(schema.format) === true ? { format: schema.format } : {}),
    ...(minimum === undefined ? {} : { minimum }),
    ...(maximum === undefined ? {} : { maximum }),
  };
}

function counts(schema: JsonObject, ...names: readonly string[]): JsonObject {
  const isCount = (value: unknown): value is number => typeof value === 'number' && Number.isInteger(value) && value >= 0;
  return Object.fromEntries(names.flatMap((name) => (isCount(schema[name]) ? [[name, schema[name]]] : [])));
}
