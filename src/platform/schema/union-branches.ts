import { isOfJsonType, showLiteral } from './json-type.ts';
import type { ResolveRef, Schema, SchemaNode } from './schema-node.ts';

// Schemas may refer to themselves. Following references without consuming a part of the value must end.
const FOLLOW_DEPTH_MAX = 32;
// Names of discriminators that vendors use. They are preferred if several properties would work.
const USUAL_DISCRIMINATORS = ['type', 'role', 'object', 'event'];

/** The variants of a union, with unions inside unions and references resolved. */
export function listBranches(branches: readonly Schema[], resolve: ResolveRef, depth = 0): Schema[] {
  return branches.flatMap((branch) => {
    const target = follow(branch, resolve);
    const inner = typeof target === 'boolean' || Object.keys(target).length !== 1 ? undefined : target.anyOf;
    return inner === undefined || depth > FOLLOW_DEPTH_MAX ? [branch] : listBranches(inner, resolve, depth + 1);
  });
}

/** False if the JSON type of the value already excludes the schema. */
export function acceptsTypeOf(schema: Schema, value: unknown, resolve: ResolveRef, depth = 0): boolean {
  const target = follow(schema, resolve);
  if (typeof target === 'boolean') return target;
  if (depth > FOLLOW_DEPTH_MAX) return true;
  const accepts = (part: Schema) => acceptsTypeOf(part, value, resolve, depth + 1);
  if (target.type !== undefined && !namesOf(target.type).some((type) => isOfJsonType(value, type))) return false;
  const literals = ownLiterals(target);
  if (literals !== undefined && !literals.some((literal) => typeof literal === typeof value && (literal === null) === (value === null))) {
    return false;
  }
  return (target.allOf?.every(accepts) ?? true) && (target.anyOf?.some(accepts) ?? true) && (target.oneOf?.some(accepts) ?? true);
}

/** The values that the schema allows, if it lists them. */
export function literalsOf(schema: Schema, resolve: ResolveRef, depth = 0): readonly unknown[] | undefined {
  const target = follow(schema, resolve);
  if (typeof target === 'boolean' || depth > FOLLOW_DEPTH_MAX) return undefined;
  const own = ownLiterals(target);
  if (own !== undefined) return own;
  const lists = (target.anyOf ?? target.oneOf)?.map((branch) => literalsOf(branch, resolve, depth + 1));
  if (lists === undefined || lists.length === 0) return undefined;
  const known = lists.filter((list) => list !== undefined);
  return known.length === lists.length ? known.flat() : undefined;
}

/** The JSON type names that the schema requires; empty if it names none. */
export function typeNamesOf(schema: Schema, resolve: ResolveRef, depth = 0): string[] {
  const target = follow(schema, resolve);
  if (typeof target === 'boolean' || depth > FOLLOW_DEPTH_MAX) return [];
  if (target.type !== undefined) return [...namesOf(target.type)];
  const literals = ownLiterals(target);
  if (literals !== undefined) return unique(literals.map((literal) => (literal === null ? 'null' : typeof literal)));
  if (target.properties !== undefined) return ['object'];
  const parts = target.anyOf ?? target.oneOf ?? target.allOf?.slice(0, 1) ?? [];
  const names = parts.map((part) => typeNamesOf(part, resolve, depth + 1));
  return names.some((list) => list.length === 0) ? [] : unique(names.flat());
}

/**
 * The schema of one property of an object schema, through references and intersections, and whether it must be there.
 */
export function propertyOf(
  schema: Schema,
  name: string,
  resolve: ResolveRef,
  depth = 0,
): { readonly schema: Schema; readonly isRequired: boolean } | undefined {
  const target = follow(schema, resolve);
  if (typeof target === 'boolean' || depth > FOLLOW_DEPTH_MAX) return undefined;
  const own = target.properties !== undefined && Object.hasOwn(target.properties, name) ? target.properties[name] : undefined;
  if (own !== undefined) return { schema: own, isRequired: target.required?.includes(name) ?? false };
  for (const part of target.allOf ?? []) {
    const inherited = propertyOf(part, name, resolve, depth + 1);
    if (inherited !== undefined) return inherited;
  }
  return undefined;
}

/** The property whose listed values distinguish the most branches. `used` names are excluded. */
export function findDiscriminator(branches: readonly Schema[], used: readonly string[], resolve: ResolveRef): string | undefined {
  const counts = new Map<string, number>(USUAL_DISCRIMINATORS.map((name) => [name, 0]));
  for (const branch of branches) {
    for (const name of propertyNamesOf(branch, resolve)) {
      const property = propertyOf(branch, name, resolve);
      if (property !== undefined && literalsOf(property.schema, resolve) !== undefined) counts.set(name, (counts.get(name) ?? 0) + 1);
    }
  }
  let best: string | undefined;
  for (const [name, count] of counts) {
    if (count > 0 && !used.includes(name) && count > (best === undefined ? 0 : (counts.get(best) ?? 0))) best = name;
  }
  return best;
}

export function unique<Item>(items: readonly Item[]): Item[] {
  return [...new Set(items)];
}

/** Literals as `expected` shows them, each once. */
export function showLiterals(literals: readonly unknown[]): (string | number)[] {
  return unique(literals.map(showLiteral));
}

function propertyNamesOf(schema: Schema, resolve: ResolveRef, depth = 0): string[] {
  const target = follow(schema, resolve);
  if (typeof target === 'boolean' || depth > FOLLOW_DEPTH_MAX) return [];
  const own = Object.keys(target.properties ?? {});
  return unique([...own, ...(target.allOf ?? []).flatMap((part) => propertyNamesOf(part, resolve, depth + 1))]);
}

function ownLiterals(node: SchemaNode): readonly unknown[] | undefined {
  return Object.hasOwn(node, 'const') ? [node.const] : node.enum;
}

function namesOf(type: string | readonly string[]): readonly string[] {
  return typeof type === 'string' ? [type] : type;
}

function follow(schema: Schema, resolve: ResolveRef): Schema {
  let current = schema;
  for (let step = 0; step < FOLLOW_DEPTH_MAX; step++) {
    if (typeof current === 'boolean' || current.$ref === undefined) return current;
    const target = resolve(current.$ref);
    if (target === undefined) return current;
    current = target;
  }
  return current;
}
