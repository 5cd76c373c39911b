import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

import { firstReference } from './resolve-references.ts';
import { isSecretPath } from './secret-paths.ts';
import type { DescribedValue, ValueSource } from '../../control/nodes/node-state.ts';

/** The parts of a schema that describing needs. */
type SchemaNode = {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly default?: unknown;
};

/** Shorter secrets would be recognisable by four characters. */
const shownFrom = 20;

/** Where a value is, and the variable or the secret (`vault:a/b#c`) that it names. */
type WrittenValue = { readonly line: number; readonly variable?: string; readonly reference?: string };

/** A configuration file as it was written, to find where its values come from. */
export type WrittenConfig = {
  /** The line of a value, and what it refers to; undefined if the file does not have it. */
  readonly find: (path: readonly (string | number)[]) => WrittenValue | undefined;
};

/** @param text a file that was read before without a problem */
export function readWritten(text: string): WrittenConfig {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines });
  return {
    find: (path) => {
      let node: unknown = document.contents;
      for (const step of path) {
        if (isMap(node)) node = node.items.find(({ key }) => isScalar(key) && String(key.value) === String(step))?.value;
        else if (isSeq(node)) node = node.items[Number(step)];
        else return undefined;
      }
      if (node === undefined || node === null) return undefined;
      const { range } = node as Node;
      const { name, secret } = isScalar(node) && typeof node.value === 'string' ? firstReference(node.value) : {};
      return {
        line: lines.linePos(range?.[0] ?? 0).line,
        ...(name !== undefined && { variable: name }),
        ...(secret !== undefined && { reference: secret }),
      };
    },
  };
}

/**
 * Describes every value of a part of the configuration: those that are set, and the defaults of the others. Secrets are
 * left out; a value that the file takes from the environment counts as one.
 * @param path where the part is: empty for the whole
 * @param from where values come from that are set but not in the file
 */
export function describeValues(
  schema: unknown,
  value: unknown,
  { written, path, from }: { readonly written: WrittenConfig; readonly path: readonly (string | number)[]; readonly from: ValueSource },
): readonly DescribedValue[] {
  const node = schema as SchemaNode;
  const step = (name: string | number, inner: SchemaNode, member: unknown): readonly DescribedValue[] =>
    describeValues(inner, member, { written, path: [...path, name], from });
  const members = isRecord(value) ? value : {};
  if (node.properties !== undefined) return Object.entries(node.properties).flatMap(([name, inner]) => step(name, inner, members[name]));
  if (node.patternProperties !== undefined) {
    const [inner] = Object.values(node.patternProperties);
    return inner === undefined ? [] : Object.entries(members).flatMap(([name, member]) => step(name, inner, member));
  }
  const { items } = node;
  if (items?.properties !== undefined) return Array.isArray(value) ? value.flatMap((item: unknown, index) => step(index, items, item)) : [];
  return [describeLeaf(node, value, { written, path, from })];
}

function describeLeaf(
  { default: standard }: SchemaNode,
  value: unknown,
  { written, path, from }: { readonly written: WrittenConfig; readonly path: readonly (string | number)[]; readonly from: ValueSource },
): DescribedValue {
  const name = path.join('.');
  const found = written.find(path);
  const common = {
    path: name,
    ...(standard !== undefined && { default: standard }),
    from: value === undefined ? ('default' as const) : found === undefined ? from : found.variable === undefined ? 'file' : 'environment',
    ...(found?.variable !== undefined && { variable: found.variable }),
    ...(found?.reference !== undefined && { reference: found.reference }),
    ...(found !== undefined && { line: found.line }),
  };
  if (isSecretPath(path) || (typeof value === 'string' && found?.variable !== undefined))
    // The end of a secret would tell when it changes, and of a short one too much.
    return { ...common, secret: found?.reference === undefined ? describeSecret(value) : { set: true } };
  const shown = value ?? standard;
  return { ...common, ...(shown !== undefined && { value: typeof shown === 'string' ? withoutPassword(shown) : shown }) };
}

function describeSecret(value: unknown): NonNullable<DescribedValue['secret']> {
  if (value === undefined) return { set: false };
  return typeof value === 'string' && value.length >= shownFrom ? { set: true, endsIn: value.slice(-4) } : { set: true };
}

/** An address without its user and its password. */
export function withoutPassword(text: string): string {
  return text.replace(/^(\w+:\/\/)[^/?#@]*@/, '$1');
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
