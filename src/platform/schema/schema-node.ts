import type { TSchema } from 'typebox';

/** The JSON Schema keywords that `describeProblems` explains. `compileCheck` refuses schemas that use others. */
export type SchemaNode = {
  readonly $id?: string;
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly allOf?: readonly Schema[];
  readonly not?: Schema;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly patternProperties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: Schema;
  readonly propertyNames?: Schema;
  readonly minProperties?: number;
  readonly maxProperties?: number;
  readonly items?: Schema | readonly Schema[];
  readonly additionalItems?: Schema;
  readonly prefixItems?: readonly Schema[];
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly uniqueItems?: boolean;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly pattern?: string | RegExp;
  readonly format?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly exclusiveMaximum?: number;
  readonly multipleOf?: number;
  /** TypeBox's own keyword: checks written as functions. */
  readonly '~refine'?: readonly { readonly check: (value: unknown) => boolean; readonly error: (value: unknown) => string }[];
};
export type Schema = SchemaNode | boolean;

/** Finds the schema of a `$ref`, or `undefined`. */
export type ResolveRef = (ref: string) => Schema | undefined;

/** TypeBox types are plain JSON Schema objects at run time; its TypeScript types say nothing about the keywords. */
export function toSchemaNode(schema: TSchema): SchemaNode {
  return schema;
}

export function isSchemaNode(value: unknown): value is SchemaNode {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/**
 * Resolves the two kinds of reference that TypeBox makes or that are written by hand: the `$id` of a definition
 * (`Cyclic` gives every definition its name as `$id`) and a pointer from the root (`#/$defs/Name`, `#`).
 */
export function createRefResolver(root: SchemaNode): ResolveRef {
  const found = new Map<string, Schema | undefined>();
  return (ref) => {
    if (!found.has(ref)) found.set(ref, ref.startsWith('#') ? followPointer(root, ref.slice(1)) : findById(root, ref));
    return found.get(ref);
  };
}

function followPointer(root: SchemaNode, pointer: string): Schema | undefined {
  let current: unknown = root;
  for (const part of pointer.split('/').slice(1)) {
    if (typeof current !== 'object' || current === null) return undefined;
    const key = decodeURIComponent(part).replaceAll('~1', '/').replaceAll('~0', '~');
    current = Object.hasOwn(current, key) ? (current as Record<string, unknown>)[key] : undefined;
  }
  return isSchemaNode(current) || typeof current === 'boolean' ? current : undefined;
}

function findById(node: unknown, id: string): SchemaNode | undefined {
  if (typeof node !== 'object' || node === null) return undefined;
  if (isSchemaNode(node) && node.$id === id) return node;
  for (const [key, child] of Object.entries(node)) {
    // These keywords contain values, not schemas.
    if (key === 'const' || key === 'enum' || key === 'default' || key === 'examples') continue;
    const match = findById(child, id);
    if (match !== undefined) return match;
  }
  return undefined;
}
