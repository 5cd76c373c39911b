import type { Random } from './mutate.ts';

const editsMax = 6;
const depthMax = 60;

/** Possible parts of a schema: keywords that are expensive, and invalid values. */
const strangers: readonly unknown[] = [
  { $ref: '#' },
  { $ref: '#/$defs/node' },
  { $ref: 'https://example.org/a.json' },
  { anyOf: [{ $ref: '#' }, { $ref: '#' }] },
  { allOf: [{ $ref: '#/$defs/node' }, { not: { $ref: '#' } }] },
  { type: 'string', pattern: '^(a+)+$' },
  { type: 'string', pattern: '(' },
  { patternProperties: { '^(\\w+\\s?)*$': {} } },
  { type: 'array', uniqueItems: true, minItems: 1e9 },
  { type: 'string', minLength: 1e9 },
  { type: 'number', multipleOf: 1e-300 },
  { enum: [] },
  { type: [] },
  { type: 'nothing' },
  {},
  true,
  false,
  null,
  -1,
  1e308,
  '__proto__',
  [],
];
const keywords = [
  'anyOf',
  'allOf',
  'oneOf',
  'not',
  'items',
  'properties',
  'required',
  'type',
  'enum',
  '$ref',
  '$defs',
  'pattern',
  'if',
  '__proto__',
];

type Node = Record<string, unknown> | unknown[];

/**
 * A JSON text like the input, and still JSON: parts of its tree are replaced, nested, renamed, or removed. The first is
 * the input itself.
 */
export function mutateJson(file: Buffer, index: number, _cases: number, random: Random): Buffer {
  if (index === 0) return file;
  const root = JSON.parse(file.toString()) as Node;
  const edits = 1 + Math.floor(random() * editsMax);
  for (let edit = 0; edit < edits; edit += 1) editOnce(root, random);
  return Buffer.from(JSON.stringify(root));
}

const pick = <Item>(items: readonly Item[], random: Random): Item => items[Math.floor(random() * items.length)] as Item;

function editOnce(root: Node, random: Random): void {
  const nodes: Node[] = [];
  collect(root, nodes, 0);
  const node = pick(nodes, random);
  const names = Object.keys(node);
  const name = names.length === 0 || (!Array.isArray(node) && random() < 0.2) ? pick(keywords, random) : pick(names, random);
  set(node, name, makeValue(node, name, nodes, random));
}

function makeValue(node: Node, name: string, nodes: readonly Node[], random: Random): unknown {
  // `__proto__` must not bring Object.prototype into the tree, where later edits would change it.
  const value = Object.hasOwn(node, name) ? (node as Record<string, unknown>)[name] : undefined;
  const kind = random();
  if (kind < 0.4) return structuredClone(pick(strangers, random));
  if (kind < 0.6) return structuredClone(pick(nodes, random));
  if (kind < 0.8) return { [pick(keywords, random)]: random() < 0.5 ? value : [value, value] };
  return undefined;
}

/** Undefined removes the member. */
function set(node: Node, name: string, value: unknown): void {
  if (Array.isArray(node)) node.splice(Number(name) || 0, 1, ...(value === undefined ? [] : [value]));
  else Object.defineProperty(node, name, { value, enumerable: true, configurable: true, writable: true });
}

function collect(value: unknown, nodes: Node[], depth: number): void {
  if (typeof value !== 'object' || value === null || depth > depthMax) return;
  nodes.push(value as Node);
  for (const inner of Object.values(value)) collect(inner, nodes, depth + 1);
}
