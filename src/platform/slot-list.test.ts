import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { createSlotList } from './slot-list.ts';

test('the list contains the items that were added and not removed, in any order of operations', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(20)), (steps) => {
      const list = createSlotList<{ readonly id: number }>();
      const present: { readonly slot: number; readonly id: number }[] = [];
      for (const [id, step] of steps.entries()) {
        if (step > 8 || present.length === 0) present.push({ slot: list.add({ id }), id });
        else list.remove(present.splice(step % present.length, 1)[0]?.slot ?? -1);
        const seen: number[] = [];
        list.forEach((item) => seen.push(item.id));
        assert.deepEqual(
          seen.toSorted((a, b) => a - b),
          present.map((entry) => entry.id).toSorted((a, b) => a - b),
        );
        assert.equal(list.size(), present.length);
      }
    }),
  );
});
