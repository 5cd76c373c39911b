import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** Keywords that hold a schema, a list of schemas, or schemas by name. */
const schemaKeywords = ['items', 'additionalProperties', 'not', 'if', 'then', 'else', 'contains', 'propertyNames'] as const;
const listKeywords = ['anyOf', 'oneOf', 'allOf', 'prefixItems'] as const;
const mapKeywords = ['properties', 'patternProperties', '$defs', 'definitions', 'dependentSchemas'] as const;

/**
 * Puts the names of types into lower case: the vendor's own agent program writes `OBJECT` and `STRING` into the fields that take JSON
 * Schema, and only this vendor reads them.
 */
export function decodeJsonSchema(schema: JsonObject): JsonObject {
  const decoded: Record<string, JsonValue | undefined> = { ...schema };
  const { type } = schema;
  if (typeof type === 'string') decoded.type = type.toLowerCase();
  if (Array.isArray(type)) decoded.type = type.map((name: JsonValue) => (typeof name === 'string' ? name.toLowerCase() : name));
  for (const keyword of schemaKeywords) {
    const inner = schema[keyword];
    if (isJsonObject(inner)) decoded[keyword] = decodeJsonSchema(inner);
  }
  for (const keyword of listKeywords) {
    const inner = schema[keyword];
    if (Array.isArray(inner)) decoded[keyword] = inner.map((item: JsonValue) => (isJsonObject(item) ? decodeJsonSchema(item) : item));
  }
  for (const keyword of mapKeywords) {
    const inner = schema[keyword];
    if (!isJsonObject(inner)) continue;
    decoded[keyword] = Object.fromEntries(
      Object.entries(inner).map(([name, item]) => [name, isJsonObject(item) ? decodeJsonSchema(item) : item]),
    );
  }
  return decoded;
}
