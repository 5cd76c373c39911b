import assert from 'node:assert/strict';
import { test } from 'node:test';

import { choosePart } from './tiers.ts';

const files = Array.from({ length: 40 }, (_, at) => `conformance/${at}.deep.test.ts`);
const isAlways = (file: string): boolean => file === files[0] || file === files[1];

test('the parts together have every suite, each has what is always run, and no other suite is in two', () => {
  const [one, two] = [choosePart(files, '1/2', isAlways), choosePart(files, '2/2', isAlways)];
  assert.deepEqual([...new Set([...one, ...two])].toSorted(), files.toSorted());
  assert.deepEqual(one.filter((file) => two.includes(file)).toSorted(), files.filter(isAlways).toSorted());
  assert.ok(one.length > 10 && two.length > 10, `${one.length} and ${two.length}`);
});

test('without a part all suites run, and a part that does not exist is refused', () => {
  assert.deepEqual(choosePart(files, undefined, isAlways), files);
  for (const part of ['', '0/2', '3/2', 'one', '1/2/3']) assert.throws(() => choosePart(files, part, isAlways), /like 1\/2/);
});
