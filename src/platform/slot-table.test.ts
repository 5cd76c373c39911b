import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { createSlotTable } from './slot-table.ts';

test('the table behaves like a Map under any operations', () => {
  const steps = fc.array(fc.tuple(fc.constantFrom('set', 'take', 'get'), fc.integer({ min: 0, max: 40 })), { maxLength: 400 });
  fc.assert(
    fc.property(steps, (taken) => {
      const table = createSlotTable<{ readonly value: number }>();
      const map = new Map<string, { readonly value: number }>();
      for (const [index, [step, number]] of taken.entries()) {
        const key = `req_${number}`;
        assert.equal(table.get(key), map.get(key));
        if (step === 'set') {
          const item = { value: index };
          table.set(key, item);
          map.set(key, item);
        } else if (step === 'take') {
          assert.equal(table.take(key), map.get(key));
          map.delete(key);
        }
        assert.equal(table.size(), map.size);
      }
      const found = new Map<string, { readonly value: number }>();
      table.forEach((item, key) => found.set(key, item));
      assert.deepEqual(found, map);
    }),
  );
});

test('the table grows, and still finds every item', () => {
  const table = createSlotTable<{ readonly value: number }>();
  for (let value = 0; value < 5000; value++) table.set(`req_${value}`, { value });
  for (let value = 0; value < 5000; value += 2) assert.equal(table.take(`req_${value}`)?.value, value);
  for (let value = 0; value < 5000; value++) assert.equal(table.get(`req_${value}`)?.value, value % 2 === 0 ? undefined : value);
  assert.equal(table.size(), 2500);
});
