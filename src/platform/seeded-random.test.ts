import assert from 'node:assert/strict';
import { test } from 'node:test';

import { seededRandom } from './seeded-random.ts';

test('a seed gives the numbers of mulberry32, in every run', () => {
  const random = seededRandom(1);
  assert.deepEqual([random(), random(), random()], [0.6270739405881613, 0.002735721180215478, 0.5274470399599522]);
  assert.equal(seededRandom(1)(), 0.6270739405881613);
  assert.notEqual(seededRandom(2)(), 0.6270739405881613);
});
