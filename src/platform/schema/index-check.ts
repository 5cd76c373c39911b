import type { JsonValue } from '../json/json-value.ts';
import { jsonKind, type JsonIndex } from '../json/json-index.ts';
import type { Schema, SchemaNode } from './schema-node.ts';

/** Whether the value at a node of an index is valid for sure. False also if that would take too long to find out. */
export type IndexCheck = (index: JsonIndex, node: number) => boolean;

/**
 * Other spellings of values that a dialect reads as those of its schema, which describes one canonical form. With
 * them, a member that is null counts as absent, unless its object is a map.
 */
export type Spellings = {
  /** The property that a member means, or the member's own name if it means none. */
  readonly nameOf: (properties: Readonly<Record<string, unknown>>, name: string) => string;
  /** The name that a value means in an enum, or the value itself. */
  readonly readEnum: (names: readonly unknown[], value: JsonValue) => JsonValue;
  /** The number that a text means, or the text itself. */
  readonly readNumber: (schema: SchemaNode, text: string) => JsonValue;
  /** Whether a single object in a property means a list of it. */
  readonly isList: (property: string) => boolean;
};

/** A compiled schema: its check, and which kinds of values may pass it. */
export type CompiledSchema = {
  readonly check: IndexCheck;
  /** One bit for each of `jsonKind`. */
  readonly kinds: number;
  /** The kinds of which every value passes, so that the check need not be called. */
  readonly sureKinds: number;
};

/** Compiles the parts of a schema. */
export type SchemaCompiler = {
  readonly spellings: Spellings | undefined;
  readonly compile: (schema: Schema | undefined) => CompiledSchema;
};

/** The bit of a kind of value in a set of kinds. */
export const bitOf = (kind: number): number => 1 << kind;

/** The set of all kinds of values. */
export const allKinds = bitOf(jsonKind.key) - 1;

/** A check of nothing but the kind of value. */
export const checkKinds =
  (kinds: number): IndexCheck =>
  (index, node) =>
    (kinds & (1 << index.kind(node))) !== 0;

/** A schema that cannot be checked on an index: whether a value is valid is never certain. */
export const neverSure: CompiledSchema = { check: () => false, kinds: 0, sureKinds: 0 };
