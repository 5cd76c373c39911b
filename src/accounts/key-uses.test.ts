import assert from 'node:assert/strict';
import { test } from 'node:test';

import { silentLogger } from '../platform/log.ts';
import { createKeyUses } from './key-uses.ts';

function setUp() {
  const writes: { readonly keyIds: readonly string[]; readonly usedAtMs: number }[] = [];
  let nowMs = 1000;
  let isDown = false;
  let warnings = 0;
  let tick = (): void => assert.fail('nothing is repeated');
  const uses = createKeyUses({
    store: {
      noteApiKeyUses: async (keyIds, usedAtMs) => {
        if (isDown) throw new Error('down');
        writes.push({ keyIds: [...keyIds], usedAtMs });
      },
    },
    clock: { nowMs: () => nowMs },
    logger: { ...silentLogger, warn: () => (warnings += 1) },
    repeat: (work, everyMs) => {
      assert.equal(everyMs, 60_000);
      tick = work;
      return () => {};
    },
  });
  return {
    uses,
    writes,
    warnings: () => warnings,
    setDown: (value: boolean) => (isDown = value),
    minute: async () => {
      nowMs += 60_000;
      tick();
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
}

test('a thousand calls of a key are one write in a minute, and an unused key is none', async () => {
  const { uses, writes, minute } = setUp();
  for (let call = 0; call < 1000; call += 1) uses.note('a');
  uses.note('b');
  assert.deepEqual(writes, []);
  await minute();
  assert.deepEqual(writes, [{ keyIds: ['a', 'b'], usedAtMs: 61_000 }]);
  await minute();
  assert.equal(writes.length, 1);
});

test('many keys are written in parts of 500', async () => {
  const { uses, writes, minute } = setUp();
  for (let key = 0; key < 1201; key += 1) uses.note(`key-${key}`);
  await minute();
  assert.deepEqual(
    writes.map(({ keyIds }) => keyIds.length),
    [500, 500, 201],
  );
});

test('keys that cannot be written are kept for the next time, with one warning for an outage', async () => {
  const { uses, writes, warnings, setDown, minute } = setUp();
  setDown(true);
  uses.note('a');
  await minute();
  uses.note('b');
  await minute();
  assert.deepEqual([writes.length, warnings()], [0, 1]);
  setDown(false);
  await minute();
  assert.deepEqual(
    writes.map(({ keyIds }) => keyIds.toSorted()),
    [['a', 'b']],
  );
  setDown(true);
  uses.note('a');
  await minute();
  assert.equal(warnings(), 2);
});

test('the end writes what is noted', async () => {
  const { uses, writes } = setUp();
  uses.note('a');
  await uses.close();
  assert.deepEqual(
    writes.map(({ keyIds }) => keyIds),
    [['a']],
  );
});
