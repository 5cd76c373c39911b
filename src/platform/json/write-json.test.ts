import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { WorkSlices, createYieldQueue } from '../yield-queue.ts';
import type { JsonValue } from './json-value.ts';
import { writeJson, writeJsonInSlices } from './write-json.ts';

/** Text with escaped characters, surrogate pairs and half pairs everywhere. */
const text = fc
  .array(fc.constantFrom('a', 'é', '漢', '🌊', '\ud83c', '\udf0a', '"', '\\', '\n', '\u2028'), { maxLength: 60 })
  .map((units) => units.join(''));
const tree = fc.letrec<{ value: JsonValue | undefined; member: JsonValue | undefined }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    text,
    fc.constantFrom(0, -0, 1.5e300, true, false, null),
    fc.array(tie('value'), { maxLength: 6 }) as fc.Arbitrary<JsonValue>,
    fc.dictionary(fc.oneof(text, fc.constantFrom('__proto__', '1', 'a')), tie('member'), { maxKeys: 6 }) as fc.Arbitrary<JsonValue>,
  ),
  member: fc.oneof({ weight: 4, arbitrary: tie('value') }, { weight: 1, arbitrary: fc.constant(undefined) }),
})).value as fc.Arbitrary<JsonValue>;

test('steps of any size write the bytes of JSON.stringify', async () => {
  await fc.assert(
    fc.asyncProperty(tree, fc.constantFrom(1, 2, 3, 10, 33, 100), async (value, stepCharacters) => {
      assert.equal((await writeJsonInSlices(value, { stepCharacters })).toString(), JSON.stringify(value));
      assert.equal((await writeJson(value)).toString(), JSON.stringify(value));
    }),
    { numRuns: 1500 },
  );
});

test('small values are written at once, and large values yield to the event loop', async (context) => {
  // Work of one turn shares its time, so this begins a turn.
  await new Promise((resolve) => setImmediate(resolve));
  // A fast machine might never yield. So each reading of the clock advances it by half a slice.
  let nowMs = 0;
  context.mock.method(performance, 'now', () => (nowMs += 4));
  assert.ok(writeJson({ model: 'm', messages: [{ role: 'user', content: 'Hi' }] }) instanceof Buffer);
  let slices = 0;
  const queue = createYieldQueue((callback) => {
    slices += 1;
    setImmediate(callback);
  });
  for (const value of ['x'.repeat(20_000_000), '"\n'.repeat(5_000_000), Array.from({ length: 400_000 }, (_, index) => ({ index }))]) {
    slices = 0;
    const written = writeJson(value);
    assert.ok(written instanceof Promise);
    assert.equal((await written).length, JSON.stringify(value).length);
    await writeJsonInSlices(value, { slices: new WorkSlices(queue) });
    assert.ok(slices >= 2, `${slices} slices`);
  }
});

test('a-deep-tree: the size of each level is not measured again', async () => {
  const items = Array.from({ length: 5000 }, (_, index) => index);
  let looks = 0;
  const counted = new Proxy(items, {
    get: (target, name) => {
      if (typeof name === 'string' && /^\d+$/.test(name)) looks += 1;
      return Reflect.get(target, name) as unknown;
    },
  });
  const tree = Array.from({ length: 60 }).reduce<JsonValue>((inner) => ({ a: inner }), counted as JsonValue);
  const written = await writeJsonInSlices(tree, { stepCharacters: 10_000 });
  assert.equal(written.toString(), JSON.stringify(tree));
  assert.ok(looks < 10 * items.length, `${looks} looks at ${items.length} items`);
});
