import type { Json } from './simulated-vendor.ts';

/** The part of JSON Schema that the request schemas of the vendors use. */
export type SchemaNode = {
  readonly type?: string;
  readonly properties?: { readonly [name: string]: SchemaNode };
  readonly patternProperties?: { readonly [pattern: string]: SchemaNode };
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: SchemaNode;
  readonly anyOf?: readonly SchemaNode[];
  readonly const?: Json;
  readonly enum?: readonly Json[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxProperties?: number;
  readonly pattern?: string;
};

type Judge<Subject, Fault> = (subject: Subject, value: Json | undefined, path: string) => Fault | undefined;

/** The vendor's message for an invalid value of each kind. Undefined if the value is valid. */
export type SchemaJudges<Fault> = {
  readonly union: Judge<readonly SchemaNode[], Fault>;
  readonly words: Judge<readonly Json[], Fault>;
  readonly object: Judge<SchemaNode, Fault>;
  readonly array: Judge<SchemaNode, Fault>;
  readonly string: Judge<SchemaNode, Fault>;
  readonly number: Judge<SchemaNode, Fault>;
  readonly boolean: Judge<SchemaNode, Fault>;
};

/** Calls the judge of the schema's type. A schema without a type accepts everything. */
export function judgeBySchema<Fault>(
  judges: SchemaJudges<Fault>,
  node: SchemaNode,
  value: Json | undefined,
  path: string,
): Fault | undefined {
  if (node.anyOf) return judges.union(node.anyOf, value, path);
  if (isWords(node)) return judges.words(node.enum ?? [node.const ?? null], value, path);
  const type = node.type === 'integer' ? 'number' : node.type;
  if (type === 'object' || type === 'array' || type === 'string' || type === 'number' || type === 'boolean') {
    return judges[type](node, value, path);
  }
  return undefined;
}

/** The kind of value that a schema requires, in the terms of `typeof` and `array`; `fallback` without a type. */
export function kindOfSchema(node: SchemaNode, fallback: string): string {
  if (isWords(node)) return 'string';
  return node.type === 'integer' ? 'number' : (node.type ?? fallback);
}

/** The kind of a value in the same terms, and `null`. */
export function kindOfValue(value: Json | undefined): string {
  return Array.isArray(value) ? 'array' : value === null ? 'null' : typeof value;
}

const isWords = (node: SchemaNode): boolean => node.const !== undefined || node.enum !== undefined;
