import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { isKnownTo, selectRange } from './select-range.ts';

const entityTag = '"abc"';
const bytes = 1000;
const select = (field: string | undefined, ifRange?: string, size = bytes) => selectRange(field, { ifRange, entityTag, bytes: size });
const part = (start: number, end: number) => ({ type: 'part', range: { start, end } });

const rows: readonly (readonly [field: string | undefined, selected: object])[] = [
  [undefined, { type: 'whole' }],
  ['bytes=0-99', part(0, 99)],
  ['bytes=0-0', part(0, 0)],
  ['bytes=999-999', part(999, 999)],
  ['bytes=100-', part(100, 999)],
  ['bytes=0-', part(0, 999)],
  ['bytes=990-5000', part(990, 999)],
  ['bytes=-100', part(900, 999)],
  ['bytes=-5000', part(0, 999)],
  ['Bytes = 1-2', part(1, 2)],
  ['bytes=1000-', { type: 'unsatisfiable' }],
  ['bytes=1000-2000', { type: 'unsatisfiable' }],
  ['bytes=-0', { type: 'unsatisfiable' }],
  // Not a range, or several ranges: the whole file.
  ['bytes=2-1', { type: 'whole' }],
  ['bytes=-', { type: 'whole' }],
  ['bytes=', { type: 'whole' }],
  ['bytes=0-1,3-4', { type: 'whole' }],
  ['lines=0-1', { type: 'whole' }],
  ['bytes=a-b', { type: 'whole' }],
  ['bytes=0x1-2', { type: 'whole' }],
  ['bytes=1-2-3', { type: 'whole' }],
  ['bytes=+1-2', { type: 'whole' }],
  ['bytes=99999999999999999999-', { type: 'whole' }],
  ['', { type: 'whole' }],
];

for (const [field, selected] of rows)
  test(`a Range of ${field ?? 'undefined'} is selected`, () => assert.deepEqual(select(field), selected));

test('an empty file has no part', () => {
  assert.deepEqual(select('bytes=0-', undefined, 0), { type: 'unsatisfiable' });
  assert.deepEqual(select('bytes=-1', undefined, 0), { type: 'unsatisfiable' });
});

test('If-Range continues only exactly the same file', () => {
  assert.deepEqual(select('bytes=0-1', entityTag), part(0, 1));
  for (const other of ['"abd"', 'W/"abc"', 'Sun, 22 Nov 2026 04:00:00 GMT', ''])
    assert.deepEqual(select('bytes=0-1', other), { type: 'whole' });
});

test('a part lies within its file for every request', () => {
  const field = fc.oneof(
    fc.string(),
    fc.tuple(fc.nat(3000), fc.nat(3000)).map(([first, last]) => `bytes=${first}-${last}`),
    fc.nat(3000).map((length) => `bytes=-${length}`),
  );
  fc.assert(
    fc.property(field, fc.nat(2000), (text, size) => {
      const selected = selectRange(text, { ifRange: undefined, entityTag, bytes: size });
      if (selected.type !== 'part') return true;
      const { start, end } = selected.range;
      return start >= 0 && start <= end && end < size;
    }),
  );
});

test('If-None-Match compares weakly and accepts lists', () => {
  for (const tag of [entityTag, `W/${entityTag}`, `"x", ${entityTag}`, '*']) assert.ok(isKnownTo(tag, entityTag), tag);
  for (const tag of [undefined, '"x"', 'abc', '']) assert.ok(!isKnownTo(tag, entityTag), tag ?? 'absent');
});
