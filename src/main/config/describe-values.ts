import { isMap, isScalar, isSeq, LineCounter, type Node, parseDocument } from 'yaml';

import type { DescribedValue, ValueSource } from '../../control/nodes/node-state.ts';

/** The parts of a schema that describing needs. */
type SchemaNode = {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly patternProperties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
  readonly default?: unknown;
};

/** Names of members whose values are secrets wherever they occur. */
const secretNames = /^(?:apiKeys?|clientSecret|secret|sessionToken|secretAccessKey|accessKeyId|password|proxy|headers)$/;
/** Addresses that may contain a password, or are known to one receiver only. */
const secretPaths = /^(?:database\.\w*[uU]rl|alerts\.channels\..+\.url|audit\.sinks\..+\.headers\..+)$/;
/** Shorter secrets would be recognisable by four characters. */
const shownFrom = 20;

/** A configuration file as it was written, to find where its values come from. */
export type WrittenConfig = {
  /** The line of a value, and the variable that it names; undefined if the file does not have it. */
  readonly find: (path: readonly (string | number)[]) => { readonly line: number; readonly variable?: string } | undefined;
};

const reference = /\$\{([A-Za-z_][A-Za-z0-9_]*)(?::-[^}]*)?\}/;

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
      const variable = isScalar(node) && typeof node.value === 'string' ? reference.exec(node.value)?.[1] : undefined;
      return { line: lines.linePos(range?.[0] ?? 0).line, ...(variable !== undefined && { variable }) };
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
    ...(found !== undefined && { line: found.line }),
  };
  if (isSecretPath(path) || (typeof value === 'string' && found?.variable !== undefined))
    return { ...common, secret: describeSecret(value) };
  const shown = value ?? standard;
  return { ...common, ...(shown !== undefined && { value: typeof shown === 'string' ? withoutPassword(shown) : shown }) };
}

/** Whether the value at a path is a secret. */
export function isSecretPath(path: readonly (string | number)[]): boolean {
  return path.some((step) => secretNames.test(String(step))) || secretPaths.test(path.join('.'));
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
