import type { TSchema } from 'typebox';
import { isBareBase64, isBase64, isBase64At, piecesAt } from '../json/base64-text.ts';
import { jsonKind, type JsonIndex } from '../json/json-index.ts';
import { NameTable } from '../json/name-table.ts';
import { compileArray, compileObject } from './index-check-containers.ts';
import { compileUnion } from './index-check-unions.ts';
import {
  allKinds,
  bitOf,
  checkKinds,
  type CompiledSchema,
  type IndexCheck,
  neverSure,
  type Spellings,
  type SchemaCompiler,
} from './index-check.ts';
import { createRefResolver, type ResolveRef, type Schema, type SchemaNode, toSchemaNode } from './schema-node.ts';

/**
 * Compiles a schema into a check of indexed JSON that builds nothing: it visits the nodes that the schema names and
 * skips all others, however large. It is for the usual case: true means that `compileCheck` would accept the parsed
 * value, and false only that this is not certain. Then parse the value and ask `compileCheck`.
 * @param spellings if the schema describes a canonical form of what clients send
 */
export function compileIndexCheck(schema: TSchema, spellings?: Spellings): IndexCheck {
  const root = toSchemaNode(schema);
  return new IndexCheckCompiler(root, spellings).compile(root).check;
}

/** Keywords that are not checked on an index: a schema with one of them is never sure. */
const unsupported = [
  'oneOf',
  'propertyNames',
  'additionalItems',
  'prefixItems',
  'uniqueItems',
  'format',
  'multipleOf',
  'definitions',
] as const;

const kindsOfType: Readonly<Record<string, number>> = {
  object: bitOf(jsonKind.object),
  array: bitOf(jsonKind.array),
  string: bitOf(jsonKind.string),
  number: bitOf(jsonKind.number),
  integer: bitOf(jsonKind.number),
  boolean: bitOf(jsonKind.true) | bitOf(jsonKind.false),
  null: bitOf(jsonKind.null),
};

/** Compiles one schema with everything inside it. */
class IndexCheckCompiler implements SchemaCompiler {
  readonly spellings: Spellings | undefined;
  readonly #resolve: ResolveRef;
  readonly #references = new Map<string, CompiledSchema>();
  readonly #compiled = new Map<SchemaNode, CompiledSchema>();

  constructor(root: SchemaNode, spellings: Spellings | undefined) {
    this.spellings = spellings;
    this.#resolve = createRefResolver(root);
  }

  compile(schema: Schema | undefined): CompiledSchema {
    if (schema === true || schema === undefined) return { check: () => true, kinds: allKinds, sureKinds: allKinds };
    if (schema === false) return neverSure;
    // Parts of a schema are used in several places.
    const compiled = this.#compiled.get(schema) ?? this.#compileNode(schema);
    this.#compiled.set(schema, compiled);
    return compiled;
  }

  #compileNode(schema: SchemaNode): CompiledSchema {
    if (unsupported.some((keyword) => keyword in schema)) return neverSure;
    if (schema.$ref !== undefined) return this.#compileReference(schema.$ref);
    if (schema.enum !== undefined || 'const' in schema) return this.#compileEnum(schema);
    const kinds = [schema.type ?? []].flat().reduce((bits, type) => bits | (kindsOfType[type] ?? 0), 0);
    const parts = this.#compileParts(schema);
    const own = kinds === 0 ? allKinds : kinds;
    const possible = parts.reduce((bits, part) => bits & part.kinds, own);
    const sureKinds = parts.reduce((bits, part) => bits & part.sureKinds, possible);
    const checks = parts.filter((part) => (part.sureKinds & possible) !== possible).map(({ check }) => check);
    const [first, second] = checks;
    if (first === undefined) return { check: checkKinds(possible), kinds: possible, sureKinds };
    const check: IndexCheck =
      second === undefined
        ? (index, node) => (possible & (1 << index.kind(node))) !== 0 && first(index, node)
        : (index, node) => (possible & (1 << index.kind(node))) !== 0 && checks.every((each) => each(index, node));
    return { check, kinds: possible, sureKinds };
  }

  /** The keywords of a schema beside its type. Each checks only the kinds of values that it is about. */
  #compileParts(schema: SchemaNode): readonly CompiledSchema[] {
    const { anyOf, allOf = [], not, type } = schema;
    const refinements = schema['~refine'];
    const parts: CompiledSchema[] = allOf.map((each) => this.compile(each));
    if (anyOf !== undefined) parts.push(compileUnion(this, anyOf));
    if (not !== undefined) parts.push(compileNot(not));
    if (type === 'object') parts.push(compileObject(this, schema));
    else if (type === 'array') parts.push(compileArray(this, schema));
    else if (type === 'string') parts.push(...compileString(schema));
    else if (type === 'number' || type === 'integer') parts.push(compileNumber(schema, this.spellings));
    // Keywords of a schema without one type would have to be told apart by value; no interface has any.
    else if (anyOf === undefined && hasValueKeywords(schema)) parts.push(neverSure);
    if (refinements !== undefined) parts.push(partly((index, node) => refinements.every(({ check }) => refine(check, index, node))));
    return parts;
  }

  /** A schema may contain itself, so references are compiled once, and found before they are complete. */
  #compileReference(ref: string): CompiledSchema {
    const found = this.#references.get(ref);
    if (found !== undefined) return found;
    const target = this.#resolve(ref) ?? false;
    const later = partly((index, node) => this.compile(target).check(index, node));
    this.#references.set(ref, later);
    return later;
  }

  #compileEnum({ enum: list, const: only, type }: SchemaNode): CompiledSchema {
    const values = list ?? [only];
    const texts = values.filter((value) => typeof value === 'string');
    const hasNull = values.includes(null);
    if (texts.length + (hasNull ? 1 : 0) !== values.length || (type !== undefined && (type !== 'string' || hasNull))) return neverSure;
    const table = new NameTable(texts);
    const { spellings } = this;
    const isSpelled = (index: JsonIndex, node: number): boolean =>
      spellings !== undefined && values.includes(spellings.readEnum(values, index.materialize(node)));
    const check: IndexCheck = (index, node) => {
      const kind = index.kind(node);
      if (kind === jsonKind.string) return table.find(index, node) !== -1 || isSpelled(index, node);
      if (kind === jsonKind.null) return hasNull;
      return kind === jsonKind.number && isSpelled(index, node);
    };
    const written = bitOf(jsonKind.string) | (hasNull ? bitOf(jsonKind.null) : 0);
    return { check, kinds: spellings === undefined ? written : written | bitOf(jsonKind.number), sureKinds: 0 };
  }
}

/** The value is only made if the check has no form for an index. */
function refine(check: (value: unknown) => boolean, index: JsonIndex, node: number): boolean {
  if (check === isBase64 && index.kind(node) === jsonKind.string) return isBase64At(index, node);
  return check(index.materialize(node));
}

/** A check that any kind of value may pass. */
const partly = (check: IndexCheck): CompiledSchema => ({ check, kinds: allKinds, sureKinds: 0 });

const valueKeywords = 'properties required items minLength maxLength pattern minimum maximum minItems maxItems additionalProperties'.split(
  ' ',
);
const hasValueKeywords = (schema: SchemaNode): boolean => valueKeywords.some((keyword) => keyword in schema);

/** Of `not`, only a list of names can be checked surely, because a check that is not sure proves nothing. */
function compileNot(not: Schema): CompiledSchema {
  if (typeof not === 'boolean') return neverSure;
  const names = not.enum ?? [];
  const texts = names.filter((name) => typeof name === 'string');
  const others = Object.keys(not).filter((keyword) => keyword !== 'enum' && !keyword.startsWith('~'));
  if (texts.length === 0 || texts.length < names.length || others.length > 0) return neverSure;
  const table = new NameTable(texts);
  return partly((index, node) => index.kind(node) !== jsonKind.string || table.find(index, node) === -1);
}

function compileString({ minLength = 0, maxLength = Infinity, pattern }: SchemaNode): readonly CompiledSchema[] {
  const parts: CompiledSchema[] = [];
  // The limits count code points, and the index UTF-16 units, of which a code point has one or two.
  if (minLength > 0) parts.push(partly((index, node) => (index.size(node) + 1) >> 1 >= minLength || countPoints(index, node) >= minLength));
  if (maxLength !== Infinity)
    parts.push(
      partly(
        (index, node) => index.size(node) <= maxLength || (index.size(node) <= 2 * maxLength && countPoints(index, node) <= maxLength),
      ),
    );
  if (pattern !== undefined) parts.push(compilePattern(new RegExp(pattern, typeof pattern === 'string' ? 'u' : pattern.flags)));
  return parts;
}

function countPoints(index: JsonIndex, node: number): number {
  let points = 0;
  for (const _point of index.text(node) ?? '') points++;
  return points;
}

/** Characters in which a pattern without an end usually matches. */
const openingCharacters = 64;

/** The beginning of a text, or the text itself if it has escapes or other characters than ASCII. */
function openingOf(index: JsonIndex, node: number): string {
  if (index.hasEscapes(node) || !index.isAscii(node)) return index.text(node) ?? '';
  const start = index.start(node) + 1;
  return index.bytes.toString('latin1', start, Math.min(index.end(node) - 1, start + openingCharacters));
}

/** A pattern that only looks at the beginning is not given a whole image. */
function compilePattern(pattern: RegExp): CompiledSchema {
  const looksAround = /\(\?|\\[bB]/.test(pattern.source);
  // Other patterns could match a part of the text and not the whole.
  const isOpen = pattern.flags === 'u' && !looksAround && !pattern.source.includes('$');
  const takesBase64 = !looksAround && beginsWithBase64(pattern);
  return partly((index, node) => {
    if (isOpen && pattern.test(openingOf(index, node))) return true;
    // If a long text is not certain, it is decoded in slices and then judged.
    if (takesBase64 && index.size(node) > longTextCharacters) return isLongBase64(pattern, index, node);
    return pattern.test(index.text(node) ?? '');
  });
}

/** Whether a pattern admits any number of letters and digits of base64 before its end. */
function beginsWithBase64({ source, flags }: RegExp): boolean {
  const [, characters] = /^\^\[([^\]\\^]+)\]\*[^|]*[$]$/.exec(source) ?? [];
  return characters !== undefined && new RegExp(`^[${characters}]*$`, flags).test(base64Characters);
}

const base64Characters = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_';

/** Shorter texts are given to their pattern at once. */
const longTextCharacters = 65_536;

/** Whether a text is base64 and ends as its pattern requires. A regular expression takes twenty times as long. */
function isLongBase64(pattern: RegExp, index: JsonIndex, node: number): boolean {
  if (index.hasEscapes(node) || !index.isAscii(node)) return false;
  let last = '';
  for (const piece of piecesAt(index, node)) {
    if (last !== '' && !isBareBase64(last)) return false;
    last = piece;
  }
  return pattern.test(last);
}

function compileNumber(schema: SchemaNode, spellings: Spellings | undefined): CompiledSchema {
  const { minimum = -Infinity, maximum = Infinity, exclusiveMinimum = -Infinity, exclusiveMaximum = Infinity } = schema;
  const isInteger = schema.type === 'integer';
  const check: IndexCheck = (index, node) => {
    const text = spellings === undefined ? undefined : index.text(node);
    const value = text === undefined ? index.number(node) : spellings?.readNumber(schema, text);
    if (typeof value !== 'number' || !Number.isFinite(value) || (isInteger && !Number.isInteger(value))) return false;
    return value >= minimum && value <= maximum && value > exclusiveMinimum && value < exclusiveMaximum;
  };
  return partly(check);
}
