import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { createRingQueue } from './ring-queue.ts';

test('items keep their order when others are removed', () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.nat(30), { nil: undefined }), { maxLength: 200 }), (steps) => {
      const queue = createRingQueue<{ readonly place: number }>();
      const expected: { readonly item: { readonly place: number }; readonly place: number }[] = [];
      for (const leave of steps) {
        if (leave === undefined) {
          const item = { place: expected.length };
          expected.push({ item, place: queue.add(item) });
        } else {
          const [gone] = expected.splice(leave, 1);
          if (gone !== undefined) {
            queue.remove(gone.place);
            queue.remove(gone.place);
          }
        }
        assert.equal(queue.size(), expected.length);
        assert.deepEqual(
          [...queue.values()],
          expected.map(({ item }) => item),
        );
      }
    }),
  );
});

test('the queue grows while its first item stays', () => {
  const queue = createRingQueue<{ readonly value: number }>();
  const first = queue.add({ value: 0 });
  for (let value = 1; value < 5000; value++) {
    const place = queue.add({ value });
    if (value % 2 === 0) queue.remove(place);
  }
  assert.equal(queue.size(), 2501);
  assert.deepEqual(
    [...queue.values().take(3)].map(({ value }) => value),
    [0, 1, 3],
  );
  queue.remove(first);
  assert.equal([...queue.values()][0]?.value, 1);
});

test('items may be removed during an iteration', () => {
  const queue = createRingQueue<{ readonly place: number }>();
  const places = [0, 1, 2].map((place) => queue.add({ place }));
  const seen: number[] = [];
  for (const { place } of queue.values()) {
    seen.push(place);
    for (const each of places) queue.remove(each);
  }
  assert.deepEqual(seen, [0]);
});
