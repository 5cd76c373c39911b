import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';

import { createYieldQueue, WorkSlices } from '../yield-queue.ts';
import type { JsonValue } from './json-value.ts';
import { parseJsonInSlices } from './parse-in-slices.ts';
import { parseJson } from './parse-json.ts';
import { JsonProblemError, jsonPartBytesMax, jsonSpaceBytesMax, scanJson, type JsonLimits } from './scan-json.ts';

type Result = { readonly value: JsonValue } | { readonly kind: string; readonly message: string };

function describeError(error: unknown): Result {
  assert.ok(error instanceof JsonProblemError, String(error));
  return { kind: error.kind, message: error.message };
}

function parseAtOnce(bytes: Buffer, limits: JsonLimits): Result {
  try {
    scanJson(bytes, limits);
    return { value: parseJson(bytes) };
  } catch (error) {
    return describeError(error);
  }
}

const parseInSteps = async (bytes: Buffer, limits: JsonLimits, stepBytes: number): Promise<Result> =>
  parseJsonInSlices(bytes, limits, { stepBytes }).then((value) => ({ value }), describeError);

/** JSON text in all spellings: raw, short escapes, and \u escapes in either case, also of half surrogate pairs. */
const spelledString = fc
  .array(
    fc.oneof(
      { weight: 4, arbitrary: fc.string({ unit: 'grapheme', maxLength: 12 }).map((text) => JSON.stringify(text).slice(1, -1)) },
      fc.constantFrom('\\n', '\\"', '\\\\', '\\/', '\\u00e9', '\\uD83C\\uDF0A', '\\ud83c', '\\udf0a', '🌊', '\\\\u0041', '漢', '\\\\\\\\'),
      fc.constantFrom('x', '\\\\', '\\"', 'é', '\\u0000').map((unit) => unit.repeat(40)),
    ),
    { maxLength: 20 },
  )
  .map((parts) => `"${parts.join('')}"`);
const space = fc.constantFrom('', '', ' ', '\n\t ', ' '.repeat(30));
const jsonText: fc.Arbitrary<string> = fc.letrec<{ value: string }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    spelledString,
    fc.constantFrom('0', '-1.5e3', '12345678901234567890', 'true', 'false', 'null', '[]', '{}', '[ ]', '{ }'),
    fc.array(fc.tuple(space, tie('value'), space), { maxLength: 6 }).map((items) => `[${items.map((item) => item.join('')).join(',')}]`),
    fc
      .uniqueArray(fc.tuple(fc.oneof(spelledString, fc.constantFrom('"__proto__"', '"1"', '"0"', '"a"')), space, tie('value')), {
        maxLength: 6,
        selector: ([key]) => key,
      })
      .map((members) => `{${members.map(([key, gap, value]) => `${gap}${key}${gap}:${gap}${value}`).join(`${','}`)}}`),
  ),
})).value;

test('steps of any size give the same values, order of members, errors and positions as one step', async () => {
  const steps = fc.constantFrom(16, 24, 31, 64, 200);
  await fc.assert(
    fc.asyncProperty(jsonText, space, steps, async (text, gap, stepBytes) => {
      const bytes = Buffer.from(`${gap}${text}${gap}`);
      const limits = { depthMax: 5, tokensMax: 60 };
      const expected = parseAtOnce(bytes, limits);
      const actual = await parseInSteps(bytes, limits, stepBytes);
      assert.deepStrictEqual(actual, expected);
      if ('value' in expected && 'value' in actual) assert.equal(JSON.stringify(actual.value), JSON.stringify(expected.value));
    }),
    { numRuns: 1500 },
  );
});

test('a damaged text is refused with the same message as in one step', async () => {
  await fc.assert(
    fc.asyncProperty(jsonText, fc.nat(), fc.integer({ min: 0, max: 255 }), fc.boolean(), async (text, place, byte, cuts) => {
      const bytes = Buffer.from(text);
      const at = place % bytes.length;
      const damaged = cuts ? bytes.subarray(0, at) : Buffer.concat([bytes.subarray(0, at), Buffer.from([byte]), bytes.subarray(at + 1)]);
      assert.deepStrictEqual(await parseInSteps(damaged, {}, 20), parseAtOnce(damaged, {}));
    }),
    { numRuns: 1500 },
  );
});

test('large values of every kind are parsed: strings with and without escapes, in any script, containers, numbers', async () => {
  const unit = 300_000;
  for (const text of [
    JSON.stringify({ a: 'x'.repeat(unit), b: [1, 'é'.repeat(unit), '🌊'.repeat(unit / 2)], c: 'a\n"'.repeat(unit) }),
    `"${'\\\\'.repeat(unit)}"`,
    `"${'\\ud83c\\udf0a'.repeat(unit / 10)}"`,
    `"${'漢\\n'.repeat(unit)}"`,
    JSON.stringify(Array.from({ length: 60_000 }, (_, index) => [index, 'text'])),
    JSON.stringify(Object.fromEntries(Array.from({ length: 60_000 }, (_, index) => [`${index % 2 ? 'k' : ''}${index}`, index]))),
    `[${' '.repeat(unit)}1${' '.repeat(unit)},${'9'.repeat(60_000)}${' '.repeat(unit)}]`,
  ]) {
    const bytes = Buffer.from(text);
    const parsed = await parseJsonInSlices(bytes, { tokensMax: 1_000_000 });
    assert.ok(JSON.stringify(parsed) === JSON.stringify(parseJson(bytes)), text.slice(0, 40));
  }
});

test('huge-key: a key that is longer than any interface uses is refused', () => {
  for (const unit of ['k', '\\u0041', '\\\\', 'é']) {
    const key = unit.repeat(Math.ceil(jsonPartBytesMax / Buffer.byteLength(unit)) + 1);
    assert.throws(() => scanJson(Buffer.from(`{"a":1,"${key}":2}`)), {
      kind: 'part-length',
      message: /more than 65536 bytes at line 1, column 8/,
    });
  }
  scanJson(Buffer.from(`{"${'k'.repeat(jsonPartBytesMax)}":2}`));
});

test('huge-number and huge-space are refused before they take time', () => {
  scanJson(Buffer.from(`[${' '.repeat(jsonSpaceBytesMax - 1)}${'9'.repeat(jsonPartBytesMax)}]`));
  assert.throws(() => scanJson(Buffer.from(`[1.${'9'.repeat(jsonPartBytesMax + 1)}]`)), {
    kind: 'part-length',
    message: /more than 65536 digits/,
  });
  for (const text of ['S1', '[S1]', '[1S]', '[1,S2]', '{"a"S:1}', '{"a":S1}', '{}S'])
    assert.throws(
      () => scanJson(Buffer.from(text.replace('S', ' '.repeat(jsonSpaceBytesMax)))),
      { kind: 'part-length', message: /white space/ },
      text,
    );
});

test('the position of a problem is right in lines and characters, at any alignment', () => {
  fc.assert(
    fc.property(fc.array(fc.constantFrom('a', 'é', '漢', '🌊', '\n', '\r', ' '), { maxLength: 60 }), fc.nat({ max: 8 }), (units, shift) => {
      const text = units.join('');
      const bytes = Buffer.from(`${'x'.repeat(shift)}${text}`).subarray(shift);
      const { line, column } = new JsonProblemError('syntax', bytes, bytes.length, 'x');
      const lines = text.split('\n');
      assert.deepEqual([line, column], [lines.length, Array.from(lines.at(-1) ?? '').length + 1]);
    }),
  );
});

test('each turn of the event loop resumes one waiting caller, in order', async () => {
  const scheduled: (() => void)[] = [];
  const queue = createYieldQueue((callback) => void scheduled.push(callback));
  const order: string[] = [];
  const work = async (name: string): Promise<void> => {
    const slices = new WorkSlices(queue);
    for (let step = 1; step <= 2; step++) {
      await slices.yield();
      order.push(`${name}${step}`);
    }
  };
  const all = Promise.all([work('a'), work('b'), work('c')]);
  const seen: string[] = [];
  while (scheduled.length > 0) {
    assert.equal(scheduled.length, 1);
    scheduled.shift()?.();
    await new Promise((resolve) => setImmediate(resolve));
    seen.push(order.at(-1) ?? '');
  }
  await all;
  assert.deepEqual(seen, ['a1', 'b1', 'c1', 'a2', 'b2', 'c2']);
});
