import { objectsOf, textsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

const copied = [
  'title',
  'description',
  'required',
  'minimum',
  'maximum',
  'minItems',
  'maxItems',
  'minLength',
  'maxLength',
  'minProperties',
  'maxProperties',
  'pattern',
  'default',
] as const;

/** Formats that matter only to this vendor. */
const vendorFormats: ReadonlySet<unknown> = new Set(['enum', 'int32', 'int64', 'float', 'double']);

/**
 * Converts the vendor's subset of schemas, in its canonical form, into JSON Schema: types in lower case, `nullable` as
 * an additional type. The order of properties is the requested one, or else their order in the text.
 */
export function decodeSchema(schema: JsonObject): JsonObject {
  const isNullable = schema.nullable === true;
  const type = typeof schema.type === 'string' && schema.type !== 'TYPE_UNSPECIFIED' ? schema.type.toLowerCase() : undefined;
  const variants = objectsOf(schema.anyOf).map(decodeSchema);
  const properties = isJsonObject(schema.properties) ? decodeProperties(schema.properties, textsOf(schema.propertyOrdering)) : undefined;
  const copies = Object.fromEntries(copied.flatMap((name) => (schema[name] === undefined ? [] : [[name, schema[name]]])));
  return {
    ...(type === undefined ? {} : { type: isNullable ? [type, 'null'] : type }),
    ...copies,
    ...(typeof schema.format === 'string' && !vendorFormats.has(schema.format) ? { format: schema.format } : {}),
    ...(Array.isArray(schema.enum) ? { enum: isNullable ? [...(schema.enum as JsonValue[]), null] : (schema.enum as JsonValue) } : {}),
    ...(isJsonObject(schema.items) ? { items: decodeSchema(schema.items) } : {}),
    ...(properties === undefined ? {} : { properties }),
    ...(variants.length === 0 ? {} : { anyOf: isNullable && type === undefined ? [...variants, { type: 'null' }] : variants }),
    ...(schema.example === undefined ? {} : { examples: [schema.example] }),
  };
}

function decodeProperties(properties: JsonObject, ordering: readonly string[]): JsonObject {
  // Other vendors write an answer in the order of the properties in the schema.
  const first = ordering.flatMap((name) => (Object.hasOwn(properties, name) ? [[name, properties[name]] as const] : []));
  const others = Object.entries(properties).filter(([name]) => !ordering.includes(name));
  return Object.fromEntries([...first, ...others].map(([name, value]) => [name, isJsonObject(value) ? decodeSchema(value) : {}]));
}
