import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/**
 * Members that the vendor's grammar for answers supports unchanged. Source: the schema transformation in the vendor's
 * SDK, 1.11.0.
 */
const knownMembers = new Set([
  '$ref',
  '$defs',
  'definitions',
  'type',
  'enum',
  'const',
  'anyOf',
  'allOf',
  'description',
  'title',
  'properties',
  'required',
  'items',
  'default',
]);

const knownFormats = new Set<unknown>(['date-time', 'time', 'date', 'duration', 'email', 'hostname', 'uri', 'ipv4', 'ipv6', 'uuid']);

const schemaMembers = new Set(['items']);
const schemaListMembers = new Set(['anyOf', 'allOf', 'oneOf']);
const schemaMapMembers = new Set(['properties', '$defs', 'definitions']);

/** Members that do not affect validity. */
const idleMembers = new Set(['$schema', '$id', '$comment', 'additionalProperties']);

/**
 * Fits a JSON schema to the vendor's rules for answers: every object is closed, alternatives are `anyOf`, and
 * unsupported rules are moved to the description, where the model still reads them. Returns the same object if nothing
 * had to change.
 */
export function fitAnswerSchema(schema: JsonObject): JsonObject {
  const fitted = fitSchema(schema);
  return isSame(schema, fitted) ? schema : fitted;
}

/**
 * Whether the vendor's grammar enforces the whole schema: no rule is only in a description, and no alternative became
 * wider.
 */
export function isHeldWhole(schema: JsonObject): boolean {
  return Object.entries(schema).every(([name, value]) => {
    if (value === undefined || idleMembers.has(name)) return true;
    if (name === 'oneOf') return false;
    if (schemaMapMembers.has(name)) return !isJsonObject(value) || Object.values(value).every(isHeldValue);
    if (schemaMembers.has(name)) return isHeldValue(value);
    if (schemaListMembers.has(name)) return !Array.isArray(value) || value.every(isHeldValue);
    return isKnown(name, value);
  });
}

const isHeldValue = (value: JsonValue | undefined): boolean => !isJsonObject(value) || isHeldWhole(value);

const isSame = (first: JsonValue, second: JsonValue): boolean => JSON.stringify(first) === JSON.stringify(second);

function fitValue(value: JsonValue): JsonValue {
  return isJsonObject(value) ? fitSchema(value) : value;
}

function fitMap(value: JsonValue): JsonValue {
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, member === undefined ? member : fitValue(member)]));
}

function fitSchema(schema: JsonObject): JsonObject {
  const members: [string, JsonValue][] = [];
  const rulesAsText: string[] = [];
  for (const [name, value] of Object.entries(schema)) {
    if (value === undefined || idleMembers.has(name)) continue;
    if (schemaMapMembers.has(name)) members.push([name, fitMap(value)]);
    else if (schemaMembers.has(name)) members.push([name, fitValue(value)]);
    else if (schemaListMembers.has(name) && Array.isArray(value)) members.push([name === 'oneOf' ? 'anyOf' : name, value.map(fitValue)]);
    else if (isKnown(name, value)) members.push([name, value]);
    else rulesAsText.push(`${name}: ${JSON.stringify(value)}`);
  }
  const fitted: JsonObject = Object.fromEntries(members);
  const described = rulesAsText.length === 0 ? fitted : { ...fitted, description: describe(fitted.description, rulesAsText) };
  return isObjectSchema(schema) ? { ...described, additionalProperties: false } : described;
}

function isKnown(name: string, value: JsonValue): boolean {
  if (name === 'format') return knownFormats.has(value);
  if (name === 'minItems') return value === 0 || value === 1;
  return knownMembers.has(name);
}

function describe(description: JsonValue | undefined, rulesAsText: readonly string[]): string {
  const rules = `{${rulesAsText.join(', ')}}`;
  return typeof description === 'string' && description !== '' ? `${description}\n\n${rules}` : rules;
}

export function isObjectSchema({ type, properties }: JsonObject): boolean {
  return type === 'object' || (Array.isArray(type) && type.includes('object')) || (type === undefined && isJsonObject(properties));
}

/** Keywords that the vendor refuses at the top of a tool's schema. */
const alternatives = ['anyOf', 'oneOf', 'allOf'] as const;

/**
 * Fits the schema of a function's arguments, which must be of an object without alternatives at the top. Properties of
 * the alternatives are merged; those that only some of them require become optional. Returns the same object if nothing
 * had to change.
 */
export function fitInputSchema(schema: JsonObject): JsonObject {
  if (alternatives.every((name) => schema[name] === undefined)) return schema.type === 'object' ? schema : { ...schema, type: 'object' };
  const { anyOf, oneOf, allOf, ...rest } = schema;
  const choices = [anyOf, oneOf].flatMap((list) => (Array.isArray(list) ? list.filter(isJsonObject) : []));
  const parts = Array.isArray(allOf) ? allOf.filter(isJsonObject) : [];
  const properties = [...choices, ...parts, schema].flatMap((part) =>
    isJsonObject(part.properties) ? Object.entries(part.properties) : [],
  );
  const everywhere = choices
    .map(requiredOf)
    .reduce<readonly string[] | undefined>(
      (shared, required) => (shared === undefined ? required : shared.filter((name) => required.includes(name))),
      undefined,
    );
  const required = [...new Set([...requiredOf(schema), ...parts.flatMap(requiredOf), ...(everywhere ?? [])])];
  return { ...rest, type: 'object', properties: Object.fromEntries(properties), ...(required.length === 0 ? {} : { required }) };
}

function requiredOf({ required }: JsonObject): readonly string[] {
  return Array.isArray(required) ? required.filter((name): name is string => typeof name === 'string') : [];
}
