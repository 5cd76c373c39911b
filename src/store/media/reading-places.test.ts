import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createPlaces } from './reading-places.ts';

test('no more are served at once than there are places, and those that wait in their order', async () => {
  const places = createPlaces(2);
  const served: number[] = [];
  const asked = [0, 1, 2, 3].map(async (index) => {
    await places.take();
    served.push(index);
  });
  await new Promise(setImmediate);
  assert.deepEqual(served, [0, 1]);
  places.giveBack();
  await new Promise(setImmediate);
  assert.deepEqual(served, [0, 1, 2]);
  places.giveBack();
  await Promise.all(asked);
  for (let count = 0; count < 2; count += 1) places.giveBack();
  await Promise.all([places.take(), places.take()]);
});
