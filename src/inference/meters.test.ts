import assert from 'node:assert/strict';
import { test } from 'node:test';

import { countInput, meterNames, meters, partsOf, toolMeters, summableMeters } from './meters.ts';

/** `cacheWrite5mTokens` becomes `cache_write_5m_tokens`. */
const written = (meter: string): string => meter.replaceAll(/(?<=[a-z])(?:[A-Z]|[0-9]+)/g, (part) => `_${part.toLowerCase()}`);

test('every meter has a unique name for receipts, expressions and commands', () => {
  const names = meterNames.map((meter) => meters[meter].name);
  assert.equal(new Set(names).size, names.length);
  for (const [meter, { name }] of Object.entries({ ...meters, ...toolMeters })) assert.equal(name, written(meter));
});

test('a part of a count is on the side of its whole, and is never counted in addition to it', () => {
  for (const whole of summableMeters) {
    for (const part of partsOf(whole)) {
      assert.equal(meters[part].side, meters[whole].side, part);
      assert.deepEqual(meters[part].statistics, [], part);
    }
  }
  const parts = summableMeters.flatMap(partsOf);
  assert.equal(new Set(parts).size, parts.length);
  assert.equal(countInput(Object.fromEntries(meterNames.map((meter) => [meter, 1]))), 4);
});

test('all input of a charge also counts for the limits and the statistics', () => {
  for (const whole of summableMeters) {
    const column = meters[whole].side === 'input' ? 'promptTokens' : 'completionTokens';
    assert.ok((meters[whole].statistics as readonly string[]).includes(column), whole);
  }
});
