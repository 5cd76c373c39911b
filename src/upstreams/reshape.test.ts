import assert from 'node:assert/strict';
import { test } from 'node:test';

import { changeHeaders, joinEdits } from './reshape.ts';

test('an edit of the dialect in bytes that the service replaces is dropped', () => {
  const own = [
    { start: 1, end: 5, replacement: 'x' },
    { start: 8, end: 8, replacement: 'y' },
  ];
  const changes = [{ start: 0, end: 6, replacement: '' }];
  assert.deepEqual(joinEdits(own, changes), [own[1], ...changes]);
  assert.equal(joinEdits(own, []), own);
});

test('headers are set, replaced and left out', () => {
  assert.deepEqual(changeHeaders({ a: '1', b: '2' }, { a: undefined, b: '3', c: '4' }), { b: '3', c: '4' });
});
