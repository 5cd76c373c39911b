import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** The value of a keyword that contains schemas: a schema, a list of schemas, or schemas by name. */
type Holds = 'schema' | 'list' | 'map';
const keywords: ReadonlyMap<string, Holds> = new Map<string, Holds>([
  ...(['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'] as const).map(
    (name) => [name, 'schema'] as const,
  ),
  ...(['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const).map((name) => [name, 'list'] as const),
  ...(['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] as const).map((name) => [name, 'map'] as const),
]);

/**
 * Puts the names of types into lower case: the vendor's own agent program writes `OBJECT` and `STRING` into fields for
 * JSON Schema, which only this vendor reads. Returns the same object if nothing changes, because schemas may be large
 * and nearly all are in lower case.
 */
export function decodeJsonSchema(schema: JsonObject): JsonObject {
  return decodeMembers(schema, (value, name) => (name === 'type' ? decodeType(value) : decodeHeld(value, keywords.get(name))));
}

function decodeHeld(value: JsonValue, holds: Holds | undefined): JsonValue {
  if (holds === 'list') return Array.isArray(value) ? decodeItems(value, decodeInner) : value;
  if (holds === undefined || !isJsonObject(value)) return value;
  return holds === 'schema' ? decodeJsonSchema(value) : decodeMembers(value, decodeInner);
}

const decodeInner = (value: JsonValue): JsonValue => (isJsonObject(value) ? decodeJsonSchema(value) : value);

function decodeType(type: JsonValue): JsonValue {
  if (typeof type === 'string') return type.toLowerCase();
  return Array.isArray(type) ? decodeItems(type, (name) => (typeof name === 'string' ? name.toLowerCase() : name)) : type;
}

function decodeMembers(object: JsonObject, decode: (value: JsonValue, name: string) => JsonValue): JsonObject {
  let changed: [string, JsonValue][] | undefined;
  for (const name in object) {
    const value = object[name];
    if (value === undefined) continue;
    const decoded = decode(value, name);
    if (decoded !== value) (changed ??= []).push([name, decoded]);
  }
  // Spread keeps the order of the members, and keeps a member `__proto__`, which an assignment would not create.
  return changed === undefined ? object : { ...object, ...Object.fromEntries(changed) };
}

function decodeItems(items: readonly JsonValue[], decode: (item: JsonValue) => JsonValue): JsonValue[] {
  let changed: JsonValue[] | undefined;
  for (let at = 0; at < items.length; at += 1) {
    const item = items[at] as JsonValue;
    const decoded = decode(item);
    if (decoded !== item) (changed ??= [...items])[at] = decoded;
  }
  return changed ?? (items as JsonValue[]);
}
