import { judgeBySchema, kindOfSchema, kindOfValue, type SchemaJudges, type SchemaNode } from '../../judge-by-schema.ts';
import { asText, isRecord } from '../../read-json.ts';
import type { Json, JsonRecord, VendorError } from '../../simulated-vendor.ts';
import { refuse } from './responses-error.ts';

/**
 * The vendor's message about a value that its schema refuses: the first error in the vendor's order, which is unknown
 * parameters, missing ones, then the members in the order of the schema. Undefined if the value is valid.
 */
export function findInvalidParameter(schema: object, value: Json | undefined, path = ''): VendorError | undefined {
  return judgeBySchema(judges, schema, value, path);
}

const judges: SchemaJudges<VendorError> = {
  union: inUnion,
  words: inEnum,
  object: inObject,
  array: inArray,
  string: inString,
  number: inNumber,
  boolean: (_node, value, path) => (typeof value === 'boolean' ? undefined : invalidType(path, 'a boolean', value)),
};

function inUnion(branches: readonly SchemaNode[], value: Json | undefined, path: string): VendorError | undefined {
  const all = flatten(branches);
  if (value === null && all.some((branch) => branch.type === 'null')) return undefined;
  const candidates = all.filter((branch) => branch.type !== 'null');
  const [only, ...alternatives] = candidates;
  if (only && alternatives.length === 0) return findInvalidParameter(only, value, path);
  const fitting = candidates.filter((branch) => kindOf(branch) === kindOfValue(value));
  const [first, ...others] = fitting;
  if (!first) return invalidType(path, describeKinds(candidates), value);
  if (others.length === 0 || !isRecord(value)) return findInvalidParameter(first, value, path);
  return byType(fitting, value, path);
}

function flatten(branches: readonly SchemaNode[]): readonly SchemaNode[] {
  return branches.flatMap((branch) => (branch.anyOf ? flatten(branch.anyOf) : [branch]));
}

/**
 * Chooses the branch whose `type` the value has. A branch without a required type, the plain message, validates values
 * without one.
 */
function byType(branches: readonly SchemaNode[], value: JsonRecord, path: string): VendorError | undefined {
  if (value.type === undefined) {
    const untyped = branches.find((branch) => !branch.required?.includes('type'));
    return untyped ? findInvalidParameter(untyped, value, path) : missing(`${path}.type`);
  }
  const names = branches.map((branch) => branch.properties?.type?.const);
  const branch = branches[names.indexOf(value.type)];
  return branch ? findInvalidParameter(branch, value, path) : invalidValue(value.type, names, path);
}

function inEnum(values: readonly Json[], value: Json | undefined, path: string): VendorError | undefined {
  if (value !== undefined && values.includes(value)) return undefined;
  if (typeof value !== 'string') {
    return invalidType(path, values.length > 1 ? `one of ${listWords(values, 'or')}` : 'a string', value);
  }
  return invalidValue(value, values, path);
}

function inObject(node: SchemaNode, value: Json | undefined, path: string): VendorError | undefined {
  if (!isRecord(value)) return invalidType(path, 'an object', value);
  const properties = node.properties ?? {};
  const at = (name: string): string => (path === '' ? name : `${path}.${name}`);
  if (node.additionalProperties === false) {
    const unknown = Object.keys(value).find((name) => !Object.hasOwn(properties, name) && value[name] !== undefined);
    if (unknown !== undefined) return refuse(`Unknown parameter: '${at(unknown)}'.`, { param: at(unknown), code: 'unknown_parameter' });
  }
  const absent = node.required?.find((name) => value[name] === undefined);
  if (absent !== undefined) return missing(at(absent));
  const count = Object.keys(value).length;
  if (node.maxProperties !== undefined && count > node.maxProperties) {
    return refuse(
      `Invalid '${path}': too many properties. Expected an object with at most ${node.maxProperties} properties, but got an object with ${count} properties instead.`,
      { param: path, code: 'object_above_max_properties' },
    );
  }
  for (const [name, property] of Object.entries(properties)) {
    const fault = value[name] === undefined ? undefined : findInvalidParameter(property, value[name], at(name));
    if (fault) return fault;
  }
  const rest = Object.values(node.patternProperties ?? {})[0];
  if (!rest) return undefined;
  for (const [name, member] of Object.entries(value)) {
    const fault = findInvalidParameter(rest, member, at(name));
    if (fault) return fault;
  }
  return undefined;
}

function inArray(node: SchemaNode, value: Json | undefined, path: string): VendorError | undefined {
  if (!Array.isArray(value)) return invalidType(path, describeKinds([node]), value);
  if (node.minItems !== undefined && value.length < node.minItems) {
    return refuse(
      `Invalid '${path}': empty array. Expected an array with minimum length ${node.minItems}, but got an empty array instead.`,
      { param: path, code: 'empty_array' },
    );
  }
  for (const [index, item] of value.entries()) {
    const fault = node.items && findInvalidParameter(node.items, item, `${path}[${index}]`);
    if (fault) return fault;
  }
  return undefined;
}

function inString(node: SchemaNode, value: Json | undefined, path: string): VendorError | undefined {
  if (typeof value !== 'string') return invalidType(path, 'a string', value);
  const length = value.length;
  if (node.minLength !== undefined && length < node.minLength) {
    return refuse(
      `Invalid '${path}': empty string. Expected a string with minimum length ${node.minLength}, but got an empty string instead.`,
      { param: path, code: 'empty_string' },
    );
  }
  if (node.maxLength !== undefined && length > node.maxLength) {
    return refuse(
      `Invalid '${path}': string too long. Expected a string with maximum length ${node.maxLength}, but got a string with length ${length} instead.`,
      { param: path, code: 'string_above_max_length' },
    );
  }
  if (node.pattern !== undefined && !new RegExp(node.pattern).test(value)) {
    return refuse(`Invalid '${path}': string does not match pattern. Expected a string that matches the pattern '${node.pattern}'.`, {
      param: path,
      code: 'invalid_value',
    });
  }
  return undefined;
}

function inNumber(node: SchemaNode, value: Json | undefined, path: string): VendorError | undefined {
  const isInteger = node.type === 'integer';
  if (typeof value !== 'number' || (isInteger && !Number.isInteger(value)))
    return invalidType(path, isInteger ? 'an integer' : 'a decimal', value);
  const word = isInteger ? 'integer' : 'decimal';
  const outside = (side: string, sign: string, bound: number): VendorError =>
    refuse(`Invalid '${path}': ${word} ${side} value. Expected a value ${sign} ${bound}, but got ${value} instead.`, {
      param: path,
      code: `${word}_${side.replace(' ', '_').replace('minimum', 'min').replace('maximum', 'max')}_value`,
    });
  if (node.minimum !== undefined && value < node.minimum) return outside('below minimum', '>=', node.minimum);
  if (node.maximum !== undefined && value > node.maximum) return outside('above maximum', '<=', node.maximum);
  return undefined;
}

function missing(path: string): VendorError {
  return refuse(`Missing required parameter: '${path}'.`, { param: path, code: 'missing_required_parameter' });
}

function invalidValue(value: Json, supported: readonly (Json | undefined)[], path: string): VendorError {
  const words = [...new Set(supported.filter((word) => typeof word === 'string'))];
  const quoted = typeof value === 'string' ? `'${value}'` : JSON.stringify(value);
  return refuse(`Invalid value: ${quoted}. ${words.length > 1 ? 'Supported values are' : 'Value must be'}: ${listWords(words, 'and')}.`, {
    param: path,
    code: 'invalid_value',
  });
}

function invalidType(path: string, expected: string, value: Json | undefined): VendorError {
  return refuse(`Invalid type for '${path}': expected ${expected}, but got ${describeValue(value)} instead.`, {
    param: path,
    code: 'invalid_type',
  });
}

function listWords(words: readonly Json[], last: 'and' | 'or'): string {
  const quoted = words.map((word) => `'${asText(word)}'`);
  if (quoted.length < 2) return quoted.join('');
  return `${quoted.slice(0, -1).join(', ')}${quoted.length > 2 ? ',' : ''} ${last} ${quoted.at(-1)}`;
}

function describeKinds(nodes: readonly SchemaNode[]): string {
  const words = [
    ...new Set(nodes.map((node) => (kindOf(node) === 'array' ? `an array of ${kindOf(node.items ?? {})}s` : article(kindOf(node))))),
  ];
  return words.length > 1 ? `one of ${words.slice(0, -1).join(', ')} or ${words.at(-1)}` : (words[0] ?? 'a value');
}

function describeValue(value: Json | undefined): string {
  if (value === undefined) return 'nothing';
  if (value === null) return 'null';
  if (typeof value === 'number') return Number.isInteger(value) ? 'an integer' : 'a decimal';
  if (Array.isArray(value)) return value.length === 0 ? 'an empty array' : 'an array';
  return article(typeof value);
}

function article(kind: string): string {
  return /^[aeiou]/.test(kind) ? `an ${kind}` : `a ${kind}`;
}

function kindOf(node: SchemaNode): string {
  return node.anyOf ? kindOf(node.anyOf[0] ?? {}) : kindOfSchema(node, 'value');
}
