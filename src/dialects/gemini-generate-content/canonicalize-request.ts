import { GatewayError } from '../../inference/gateway-error.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { createRefResolver, toSchemaNode } from '../../platform/schema/schema-node.ts';
import type { Spellings } from '../../platform/schema/index-check.ts';
import type { ResolveRef, Schema, SchemaNode } from '../../platform/schema/schema-node.ts';
import type { TSchema } from 'typebox';

/** The contract's neutral names of tools, by the vendor's names. */
export const neutralToolNames: Readonly<Record<string, string>> = {
  vendorSearch: 'googleSearch',
  vendorSearchRetrieval: 'googleSearchRetrieval',
};

/** The same for keys in a request, in either spelling: the vendor's spelling of each is alike. */
export const neutralToolKeys: Readonly<Record<string, string>> = {
  vendor_search: 'google_search',
  vendorSearch: 'googleSearch',
  vendor_search_retrieval: 'google_search_retrieval',
  vendorSearchRetrieval: 'googleSearchRetrieval',
};

/** Lists for which the contract's examples have a single object. */
const singleObjectLists = new Set(['contents', 'parts', 'tools']);

const toCamelCase = (name: string): string => name.replaceAll(/(?<=.)_([a-z0-9])/g, (_, letter: string) => letter.toUpperCase());

export const toSnakeCase = (name: string): string => name.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

type Walk = { readonly resolve: ResolveRef; readonly isCompatible: boolean };

/**
 * Copies a request into its canonical form, by the rules of proto JSON: camelCase names (clients may send snake_case),
 * null is absent, enums by name (numbers, and in compatible mode any case), whole numbers from decimal strings. It also
 * writes lists where the contract's examples have a single object, a system instruction as content (from text or
 * parts), and the vendor's names of the search tools. Free-form values (arguments, results, JSON Schemas, names of
 * properties) are unchanged. Invalid values stay and are refused later.
 *
 * @throws GatewayError invalid_value when both spellings of one field are present
 */
export function canonicalizeRequest(body: JsonObject, schema: TSchema, isCompatible: boolean): JsonObject {
  const root = toSchemaNode(schema);
  return copyObject({ resolve: createRefResolver(root), isCompatible }, root, body, '');
}

function copyValue(walk: Walk, schema: Schema, value: JsonValue, path: string): JsonValue {
  const node = follow(walk, schema);
  if (node === undefined) return value;
  if (node.enum !== undefined) return readEnum(node.enum, value, walk.isCompatible);
  if (typeof value === 'string') return readNumber(node, value);
  if (node.type === 'array' && Array.isArray(value) && node.items !== undefined && !Array.isArray(node.items)) {
    const items = node.items as Schema;
    return value.map((item: JsonValue, index) => copyValue(walk, items, item, `${path}[${index}]`));
  }
  return node.type === 'object' && isJsonObject(value) ? copyObject(walk, node, value, path) : value;
}

function follow(walk: Walk, schema: Schema): SchemaNode | undefined {
  const target = typeof schema !== 'boolean' && schema.$ref !== undefined ? walk.resolve(schema.$ref) : schema;
  return typeof target === 'boolean' ? undefined : target;
}

/** Copies free-form objects and maps: their names belong to the client, and null is an ordinary value. */
function copyMap(walk: Walk, node: SchemaNode, value: JsonObject, path: string): JsonObject {
  return Object.fromEntries(
    Object.entries(value).map(([key, member]) => {
      const property = openProperty(node, key);
      return [key, property === undefined || member === undefined ? member : copyValue(walk, property, member, `${path}.${key}`)];
    }),
  );
}

function copyObject(walk: Walk, node: SchemaNode, value: JsonObject, path: string): JsonObject {
  const { properties = {} } = node;
  if (Object.keys(properties).length === 0) return copyMap(walk, node, value, path);
  const members = new Map<string, JsonValue>();
  const spellings = new Map<string, string>();
  for (const [key, member] of Object.entries(value)) {
    // In proto JSON, null means absent.
    if (member === undefined || member === null) continue;
    const name = findName(properties, key);
    const first = spellings.get(name);
    if (first !== undefined) throw twoSpellings(path, first, key);
    spellings.set(name, key);
    const place = path === '' ? key : `${path}.${key}`;
    const property = Object.hasOwn(properties, name) ? properties[name] : openProperty(node, name);
    members.set(name, property === undefined ? member : copyValue(walk, property, wrapSingle(name, member), place));
  }
  return Object.fromEntries(members);
}

/**
 * Finds the schema of a member that `properties` does not name: maps such as `properties` of a value schema have one
 * for all.
 */
function openProperty(node: SchemaNode, name: string): Schema | undefined {
  if (node.additionalProperties !== undefined) return node.additionalProperties;
  return Object.entries(node.patternProperties ?? {}).find(([pattern]) => new RegExp(pattern, 'u').test(name))?.[1];
}

/** Finds the canonical name of a member: as the schema spells it, or unchanged if the schema does not have it. */
function findName(properties: Readonly<Record<string, unknown>>, key: string): string {
  if (Object.hasOwn(properties, key)) return key;
  const camelCase = toCamelCase(key);
  const name = (Object.hasOwn(neutralToolNames, camelCase) ? neutralToolNames[camelCase] : undefined) ?? camelCase;
  return Object.hasOwn(properties, name) ? name : key;
}

/** The same forms for a check of a request that is not copied, in compatible mode. */
export const spellings: Spellings = {
  nameOf: findName,
  readEnum: (names, value) => readEnum(names, value, true),
  readNumber,
  isList: (property) => singleObjectLists.has(property),
};

function twoSpellings(path: string, first: string, second: string): GatewayError {
  const place = path === '' ? '' : ` at '${path}'`;
  const message = `Invalid JSON payload received. '${first}' and '${second}'${place} are two spellings of the same field. Send only one of them.`;
  return new GatewayError('invalid_value', message, { param: path === '' ? second : `${path}.${second}` });
}

function wrapSingle(name: string, value: JsonValue): JsonValue {
  if (singleObjectLists.has(name) && isJsonObject(value)) return [value];
  if (name !== 'systemInstruction') return value;
  if (typeof value === 'string') return { parts: [{ text: value }] };
  return Array.isArray(value) ? { parts: value as JsonValue } : value;
}

function readEnum(names: readonly unknown[], value: JsonValue, isCompatible: boolean): JsonValue {
  if (typeof value === 'number') {
    const name = names[value];
    return typeof name === 'string' ? name : value;
  }
  if (typeof value !== 'string' || names.includes(value)) return value;
  // The vendor reads names in any case, and clients that know JSON Schema write types in lower case.
  const isType = names.includes('TYPE_UNSPECIFIED');
  if (!isCompatible && !isType) return value;
  const lowerCase = value.toLowerCase();
  const name = names.find((candidate) => typeof candidate === 'string' && candidate.toLowerCase() === lowerCase);
  return typeof name === 'string' ? name : value;
}

function readNumber(node: SchemaNode, value: string): JsonValue {
  if (node.type === 'integer' && /^-?\d{1,16}$/.test(value)) return Number(value);
  return node.type === 'number' && /^-?\d{1,16}(\.\d{1,16})?$/.test(value) ? Number(value) : value;
}
