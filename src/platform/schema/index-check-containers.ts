import { jsonKind, type JsonIndex } from '../json/json-index.ts';
import { NameTable } from '../json/name-table.ts';
import { allKinds, bitOf, type CompiledSchema, type IndexCheck, neverSure, type Spellings, type SchemaCompiler } from './index-check.ts';
import type { Schema, SchemaNode } from './schema-node.ts';

/** A schema of type `array`. */
export function compileArray(compiler: SchemaCompiler, { items, minItems = 0, maxItems = Infinity }: SchemaNode): CompiledSchema {
  if (isList(items)) return neverSure;
  const item = compiler.compile(items);
  const { sureKinds } = item;
  const isAnything = sureKinds === allKinds;
  const check: IndexCheck = (index, node) => {
    const size = index.size(node);
    if (size < minItems || size > maxItems) return false;
    if (isAnything) return true;
    const end = index.next(node);
    for (let at = index.first(node); at < end; at = index.next(at)) {
      if ((sureKinds & (1 << index.kind(at))) === 0 && !item.check(index, at)) return false;
    }
    return true;
  };
  const kinds = bitOf(jsonKind.array);
  return { check, kinds, sureKinds: isAnything && minItems === 0 && maxItems === Infinity ? kinds : 0 };
}

const isList = (items: SchemaNode['items']): items is readonly Schema[] => Array.isArray(items);

/** The properties of an object schema, by their numbers in a table of names. */
type Properties = {
  readonly table: NameTable;
  readonly checks: readonly IndexCheck[];
  readonly sureKinds: Int32Array;
  readonly isRequired: Uint8Array;
  readonly requiredCount: number;
  /** Checks a member that is none of them, by its key. Undefined if it may be anything. */
  readonly others: IndexCheck | undefined;
};

/** A schema of type `object`. */
export function compileObject(compiler: SchemaCompiler, schema: SchemaNode): CompiledSchema {
  const { minProperties = 0, maxProperties = Infinity } = schema;
  const kinds = bitOf(jsonKind.object);
  const properties = compileProperties(compiler, schema);
  const { spellings } = compiler;
  const { length } = properties.table.names;
  const isSized = minProperties > 0 || maxProperties !== Infinity;
  if (length === 0 && properties.others === undefined && !isSized) return { check: () => true, kinds, sureKinds: kinds };
  const members = spellings === undefined || length === 0 ? checkMembers(properties) : checkSpelled(properties, schema, spellings);
  const check: IndexCheck = isSized
    ? (index, node) => index.size(node) >= minProperties && index.size(node) <= maxProperties && members(index, node)
    : members;
  return { check, kinds, sureKinds: 0 };
}

function compileProperties(compiler: SchemaCompiler, schema: SchemaNode): Properties {
  const { properties = {}, required = [] } = schema;
  const names = [...new Set([...Object.keys(properties), ...required])];
  const compiled = names.map((name) => compileProperty(compiler, properties, name));
  return {
    table: new NameTable(names),
    checks: compiled.map(({ check }) => check),
    sureKinds: Int32Array.from(compiled, ({ sureKinds }) => sureKinds),
    isRequired: Uint8Array.from(names, (name) => (required.includes(name) ? 1 : 0)),
    requiredCount: new Set(required).size,
    others: compileOthers(compiler, schema),
  };
}

function checkMembers({ table, checks, sureKinds, isRequired, requiredCount, others }: Properties): IndexCheck {
  return (index, node) => {
    let missing = requiredCount;
    const end = index.next(node);
    for (let key = index.first(node); key < end; key = index.next(key + 1)) {
      const at = table.find(index, key);
      if (at === -1) {
        if (others !== undefined && !others(index, key)) return false;
        continue;
      }
      if (((sureKinds[at] ?? 0) & (1 << index.kind(key + 1))) === 0 && checks[at]?.(index, key + 1) !== true) return false;
      missing -= isRequired[at] ?? 0;
    }
    return missing === 0;
  };
}

/** The same for members in any spelling, of which those that are null count as absent. */
function checkSpelled(
  { table, checks, isRequired, requiredCount, others }: Properties,
  { properties = {} }: SchemaNode,
  { nameOf }: Spellings,
): IndexCheck {
  const nameAt = (index: JsonIndex, key: number): string => nameOf(properties, index.text(key) ?? '');
  return (index, node) => {
    let missing = requiredCount;
    let hasAlias = false;
    const end = index.next(node);
    for (let key = index.first(node); key < end; key = index.next(key + 1)) {
      if (index.kind(key + 1) === jsonKind.null) continue;
      let at = table.find(index, key);
      if (at === -1) {
        at = table.names.indexOf(nameAt(index, key));
        hasAlias ||= at !== -1;
      }
      if (at === -1) {
        if (others !== undefined && !others(index, key)) return false;
        continue;
      }
      if (checks[at]?.(index, key + 1) !== true) return false;
      missing -= isRequired[at] ?? 0;
    }
    return missing === 0 && (!hasAlias || namesOnce(index, node, nameAt));
  };
}

/** Whether no two members of an object mean the same property. */
function namesOnce(index: JsonIndex, object: number, nameAt: (index: JsonIndex, key: number) => string): boolean {
  const seen = new Set<string>();
  const end = index.next(object);
  for (let key = index.first(object); key < end; key = index.next(key + 1)) {
    if (index.kind(key + 1) === jsonKind.null) continue;
    const name = nameAt(index, key);
    if (seen.has(name)) return false;
    seen.add(name);
  }
  return true;
}

function compileProperty(
  compiler: SchemaCompiler,
  properties: NonNullable<SchemaNode['properties']>,
  name: string,
): Pick<CompiledSchema, 'check' | 'sureKinds'> {
  const schema = Object.hasOwn(properties, name) ? properties[name] : undefined;
  const { check, sureKinds } = compiler.compile(schema);
  if (compiler.spellings?.isList(name) !== true || typeof schema !== 'object') return { check, sureKinds };
  // A single object may stand for the list.
  const { type, items, minItems = 0, maxItems = 1 } = schema;
  if (type !== 'array' || isList(items) || minItems > 1 || maxItems < 1) return neverSure;
  const item = compiler.compile(items);
  return {
    check: (index, node) => (index.kind(node) === jsonKind.object ? item.check(index, node) : check(index, node)),
    sureKinds: 0,
  };
}

/** Checks a member that `properties` does not name, by its key. Undefined if it may be anything. */
function compileOthers(compiler: SchemaCompiler, schema: SchemaNode): IndexCheck | undefined {
  const { patternProperties, additionalProperties } = schema;
  const patterns = Object.entries(patternProperties ?? {});
  const [pattern] = patterns;
  if (pattern === undefined) {
    if (additionalProperties === undefined || additionalProperties === true) return undefined;
    const { check } = compiler.compile(additionalProperties);
    return (index, key) => check(index, key + 1);
  }
  // Patterns apply to named properties too.
  if (patterns.length > 1 || additionalProperties !== undefined || schema.properties !== undefined) return () => false;
  const name = new RegExp(pattern[0], 'u');
  const { check } = compiler.compile(pattern[1]);
  return (index, key) => !name.test(index.text(key) ?? '') || check(index, key + 1);
}
