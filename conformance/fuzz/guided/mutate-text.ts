import { mutate, type Random } from '../mutate.ts';

const bytesMax = 65_536;
/** Values that parsers stumble over. */
const values = [
  'null',
  'true',
  '0',
  '-1',
  '1e308',
  '9007199254740993',
  '0.1',
  '""',
  '"__proto__"',
  '"constructor"',
  '"\\ud800"',
  '"\\u0000"',
  '[]',
  '{}',
  '[[[[[[[[[]]]]]]]]]',
  '{"__proto__":{"a":1}}',
  '{"a":1,"a":2}',
];
/** Strings, numbers, words, signs of JSON, and lines of streams. */
const tokens = /"(?:[^"\\]|\\.)*"|-?\d[\d.eE+-]*|\w+|[{}[\],:]|\r?\n/g;

const pick = <Item>(items: readonly Item[], random: Random): Item | undefined => items[Math.floor(random() * items.length)];

/** A file like the first one, with bytes or tokens that are changed, moved, or taken from another one. */
export function mutateText(file: Buffer, other: Buffer, random: Random): Buffer {
  if (random() < 0.3) return mutate(file, 1, 2, random).subarray(0, bytesMax);
  // Every byte is one character, so that damaged text stays as it is.
  let text = file.toString('latin1');
  const edits = 1 + Math.floor(random() * 4);
  for (let edit = 0; edit < edits; edit += 1) text = editOnce(text, other, random);
  return Buffer.from(text.slice(0, bytesMax), 'latin1');
}

function editOnce(text: string, other: Buffer, random: Random): string {
  const found = [...text.matchAll(tokens)];
  const one = pick(found, random);
  if (one === undefined) return `${text}${pick(values, random)}`;
  const [start, end] = [one.index, one.index + one[0].length];
  const kind = random();
  if (kind < 0.35) return text.slice(0, start) + (pick(values, random) ?? '') + text.slice(end);
  if (kind < 0.5) return text.slice(0, start) + text.slice(end);
  const until = pick(found, random)?.index ?? end;
  const [from, to] = start < until ? [start, until] : [until, start];
  if (kind < 0.65) return text.slice(0, from) + text.slice(to);
  if (kind < 0.8) return text.slice(0, to) + text.slice(from, Math.min(to, from + 4096)) + text.slice(to);
  const foreign = pick([...other.toString('latin1').matchAll(tokens)], random)?.[0] ?? '';
  return text.slice(0, start) + foreign + text.slice(end);
}
