import assert from 'node:assert/strict';
import { test } from 'node:test';
import { works } from '../../bench/works.ts';
import { indexJson } from '../../src/platform/json/index-json.ts';
import { measureBest } from '../support/measure-best.ts';

const list = (item: (at: number) => string, count: number): string => `[${Array.from({ length: count }, (_, at) => item(at)).join(',')}]`;
const members = (key: (at: number) => string, count: number): string =>
  `{${Array.from({ length: count }, (_, at) => `"${key(at)}":1`).join(',')}}`;

/** Bytes that might be slow to scan: each pattern repeats one kind of part. */
const patterns: Readonly<Record<string, string>> = {
  'tiny tokens': list(() => '1', 100_000),
  'empty strings': list(() => '""', 70_000),
  words: list((at) => ['true', 'false', 'null'][at % 3] ?? '', 50_000),
  numbers: list((at) => `-${at}.${at}e+${at % 9}`, 12_000),
  nesting: list(() => '['.repeat(60) + ']'.repeat(60), 1500),
  'small objects': list(() => '{"a":1,"b":2}', 20_000),
  'objects at the limit of a list of keys': list(() => members((at) => `k${at}`, 33), 800),
  'many keys': members(String, 60_000),
  'long keys': members((at) => 'k'.repeat(60_000) + String(at), 10),
  'escaped keys': members((at) => `\\u006b${at}`, 20_000),
  escapes: `["${'\\n'.repeat(100_000)}"]`,
  'escapes of characters': `["${'\\u00e9'.repeat(30_000)}"]`,
  backslashes: `["${'\\\\'.repeat(100_000)}"]`,
  'strings of escapes': list(() => '"\\"\\\\"', 30_000),
  'characters of several bytes': `["${'é€😀'.repeat(25_000)}"]`,
  'white space': `[${' '.repeat(500_000)}]`,
  'white space between tokens': list(() => '\n   1\t ', 30_000),
};

/** The time of one scan: the fastest of many, which are shorter than a turn of the scheduler. */
function scanMs(bytes: Buffer): number {
  const times = Array.from({ length: 40 }, () => {
    const startedMs = performance.now();
    indexJson(bytes);
    return performance.now() - startedMs;
  });
  return Math.min(...times);
}

/**
 * Each byte and each node of a hostile text costs at most three times what a byte of text and a node cost in the turn
 * of an agent program. The number of nodes has a limit of its own.
 */
test('no pattern of bytes costs more than three times the usual cost of its bytes and nodes', async () => {
  const turn = works.find(({ title }) => title.includes('agent'))?.body ?? assert.fail('no agent turn');
  const { messages, tools } = JSON.parse(turn);
  const measure = (): readonly string[] => {
    const costOf = (text: string) => ({
      ms: scanMs(Buffer.from(text)),
      bytes: Buffer.byteLength(text),
      nodes: indexJson(Buffer.from(text)).count,
    });
    // Messages are mostly text, and tools are mostly nodes.
    const text = costOf(JSON.stringify(messages));
    const structure = costOf(JSON.stringify(tools));
    const perByte = text.ms / text.bytes;
    const perNode = structure.ms / structure.nodes;
    return Object.entries(patterns).flatMap(([name, pattern]) => {
      const { ms, bytes, nodes } = costOf(pattern);
      const times = ms / (bytes * perByte + nodes * perNode);
      return times <= 3 ? [] : [`${name}: ${times.toFixed(1)} times`];
    });
  };
  assert.deepEqual(await measureBest(measure, (slow) => slow.length === 0), []);
});
