import { judgeBySchema, kindOfSchema, kindOfValue, type SchemaJudges, type SchemaNode } from '../../judge-by-schema.ts';
import { isRecord } from '../../read-json.ts';
import type { Json, JsonRecord } from '../../simulated-vendor.ts';

const typeWords: Readonly<Record<string, string>> = {
  string: 'Input should be a valid string',
  integer: 'Input should be a valid integer',
  number: 'Input should be a valid number',
  boolean: 'Input should be a valid boolean',
  array: 'Input should be a valid list',
  object: 'Input should be an object',
};

/**
 * The vendor's message about a value that its schema refuses, for example `messages.0.content.1.image.source: Field
 * required`: the path with the tags of the unions on it, then the reason. Undefined if the value is valid.
 */
export function findInvalidInput(schema: object, value: Json | undefined, path = ''): string | undefined {
  return judgeBySchema(judges, schema, value, path);
}

const judges: SchemaJudges<string> = {
  union: inUnion,
  words: inWords,
  object: inObject,
  array: inArray,
  string: inString,
  number: inNumber,
  boolean: (_node, value, path) => (typeof value === 'boolean' ? undefined : `${path}: ${typeWords['boolean']}`),
};

function inUnion(branches: readonly SchemaNode[], value: Json | undefined, path: string): string | undefined {
  const all = branches.flatMap((branch) => branch.anyOf ?? [branch]);
  if (value === null && all.some((branch) => branch.type === 'null')) return undefined;
  const candidates = all.filter((branch) => branch.type !== 'null');
  const fitting = candidates.filter((branch) => kindOf(branch) === kindOfValue(value));
  const [first] = fitting;
  if (first === undefined) return `${path}: ${typeWords[kindOf(candidates[0] ?? {})] ?? 'Input is not valid'}`;
  if (fitting.length === 1 || !isRecord(value)) return findInvalidInput(first, value, path);
  return byTag(fitting, value, path);
}

/** Chooses the branch whose `type` the value has; the tag becomes a part of the path, as in the vendor's messages. */
function byTag(branches: readonly SchemaNode[], value: JsonRecord, path: string): string | undefined {
  const untagged = branches.find((branch) => !branch.required?.includes('type'));
  const tag = value['type'] ?? undefined;
  if (tag === undefined) {
    if (untagged === undefined) return `${path}: Unable to extract tag using discriminator 'type'`;
    return findInvalidInput(untagged, value, join(path, 'custom'));
  }
  const branch = branches.find((candidate) => tagOf(candidate) === tag);
  if (branch !== undefined) return findInvalidInput(branch, value, join(path, wordOf(tag)));
  const expected = branches.map((candidate) => `'${wordOf(tagOf(candidate))}'`).join(', ');
  return `${path}: Input tag '${wordOf(tag)}' found using 'type' does not match any of the expected tags: ${expected}`;
}

function tagOf(branch: SchemaNode): Json | undefined {
  const type = branch.properties?.['type'];
  return type?.const ?? type?.anyOf?.find((candidate) => candidate.const !== undefined)?.const;
}

function inObject(node: SchemaNode, value: Json | undefined, path: string): string | undefined {
  if (!isRecord(value)) return `${path}: ${typeWords['object']}`;
  const properties = node.properties ?? {};
  const absent = node.required?.find((name) => value[name] === undefined);
  if (absent !== undefined) return `${join(path, absent)}: Field required`;
  for (const [name, property] of Object.entries(properties)) {
    const found = value[name] === undefined ? undefined : findInvalidInput(property, value[name], join(path, name));
    if (found !== undefined) return found;
  }
  if (node.additionalProperties !== false) return undefined;
  const extra = Object.keys(value).find((name) => !Object.hasOwn(properties, name));
  return extra === undefined ? undefined : `${join(path, extra)}: Extra inputs are not permitted`;
}

function inArray(node: SchemaNode, value: Json | undefined, path: string): string | undefined {
  if (!Array.isArray(value)) return `${path}: ${typeWords['array']}`;
  for (const [index, item] of value.entries()) {
    const found = node.items && findInvalidInput(node.items, item, join(path, String(index)));
    if (found !== undefined) return found;
  }
  return undefined;
}

function inString(node: SchemaNode, value: Json | undefined, path: string): string | undefined {
  if (typeof value !== 'string') return `${path}: ${typeWords['string']}`;
  const plural = (count: number): string => `${count} character${count === 1 ? '' : 's'}`;
  if (node.minLength !== undefined && value.length < node.minLength)
    return `${path}: String should have at least ${plural(node.minLength)}`;
  if (node.maxLength !== undefined && value.length > node.maxLength) return `${path}: String should have at most ${plural(node.maxLength)}`;
  if (node.pattern !== undefined && !new RegExp(node.pattern).test(value)) return `${path}: String should match pattern '${node.pattern}'`;
  return undefined;
}

function inNumber(node: SchemaNode, value: Json | undefined, path: string): string | undefined {
  if (typeof value !== 'number' || (node.type === 'integer' && !Number.isInteger(value)))
    return `${path}: ${typeWords[node.type ?? 'number']}`;
  if (node.minimum !== undefined && value < node.minimum) return `${path}: Input should be greater than or equal to ${node.minimum}`;
  if (node.maximum !== undefined && value > node.maximum) return `${path}: Input should be less than or equal to ${node.maximum}`;
  return undefined;
}

function inWords(words: readonly Json[], value: Json | undefined, path: string): string | undefined {
  if (value !== undefined && words.includes(value)) return undefined;
  const quoted = words.map((word) => `'${wordOf(word)}'`);
  const list = quoted.length > 1 ? `${quoted.slice(0, -1).join(', ')} or ${quoted.at(-1)}` : quoted.join('');
  return `${path}: Input should be ${list}`;
}

/** A string unchanged; anything else as JSON. */
function wordOf(value: Json | undefined): string {
  return typeof value === 'string' ? value : JSON.stringify(value ?? null);
}

const kindOf = (node: SchemaNode): string => kindOfSchema(node, 'object');

function join(path: string, name: string): string {
  return path === '' ? name : `${path}.${name}`;
}
