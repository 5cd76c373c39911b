import type { SchemaNode } from '../../../src/platform/schema/schema-node.ts';

/** Texts that some rule may require, the plain one first. */
const candidates = (name: string): readonly string[] => [
  `sample ${name}`,
  `sample_${name.replaceAll(/[^A-Za-z0-9]+/g, '_')}`.slice(0, 60),
  `https://example.com/sample/${name.replaceAll(/[^a-z_]+/g, '-')}.png`,
  'c2FtcGxl',
  'image/png',
  'Europe/Berlin',
  'DE',
  'cachedContents/sample',
];

/** A text that the schema accepts, with the field's name in it. */
export function sampleText(node: SchemaNode, name: string): string {
  const fits = (text: string): boolean =>
    (node.pattern === undefined || new RegExp(node.pattern, 'u').test(text)) &&
    text.length >= (node.minLength ?? 0) &&
    text.length <= (node.maxLength ?? Infinity) &&
    (node['~refine'] ?? []).every(({ check }) => check(text));
  const found = candidates(name).find(fits);
  if (found === undefined) throw new Error(`no sample of ${name} matches its schema: add one`);
  return found;
}

/** Two different numbers within the bounds of a schema, unlike usual values. */
export function sampleNumbers(node: SchemaNode): readonly [number, number] {
  const least = node.minimum ?? (node.exclusiveMinimum === undefined ? -Infinity : node.exclusiveMinimum + 1);
  const most = node.maximum ?? (node.exclusiveMaximum === undefined ? Infinity : node.exclusiveMaximum - 1);
  const fitting = (node.type === 'integer' ? [1337, 20_011, 17, 19, 3, 2, 1] : [0.375, 0.625, 17.5, 19.5]).filter(
    (value) => value >= least && value <= most,
  );
  const [first, second] = fitting;
  if (first === undefined || second === undefined) throw new Error(`no two samples match ${JSON.stringify(node)}: add some`);
  return [first, second];
}
