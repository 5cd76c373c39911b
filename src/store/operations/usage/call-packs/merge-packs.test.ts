import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callForm, decodePack, encodePack } from '../pack.ts';
import { mergePacks } from './merge-packs.ts';

const sums = callForm.sums.map((_, index) => BigInt(index + 1));
const packOf = (rows: readonly (readonly number[])[]) =>
  decodePack(
    callForm,
    encodePack(
      callForm,
      rows.map((names) => [...names, ...sums]),
    ),
  );

test('hours with different groups are added up by group', () => {
  const { form, bytes } = mergePacks(
    [
      packOf([[1, 2, 3, 0, 0]]),
      packOf([
        [1, 2, 3, 0, 0],
        [1, 2, 3, 0, 7],
      ]),
    ],
    false,
  );
  const pack = decodePack(callForm, bytes);
  assert.equal(form, 0);
  assert.deepEqual(pack.lists, [[1], [2], [3], [0], [0, 7]]);
  assert.deepEqual(
    pack.sums.map(({ low }) => [...low]),
    sums.map((sum) => [Number(sum) * 2, Number(sum)]),
  );
});

test('more groups than a pack may have are added up by team and tags alone, and no call is lost', () => {
  const groups = 60_000;
  const rows = Array.from({ length: groups }, (_, user) => [user + 1, user, 1, user % 2, user % 3]);
  const { form, bytes } = mergePacks([packOf(rows.slice(0, 40_000)), packOf(rows.slice(40_000))], false);
  const pack = decodePack(callForm, bytes);
  assert.equal(form, 1);
  assert.deepEqual(pack.lists.slice(0, 3), [[0], [0], [0]]);
  assert.equal(pack.places[0]?.length, 6);
  assert.equal(
    pack.sums[0]?.low.reduce((sum, low) => sum + low, 0),
    groups,
  );
});

test('sums beyond 64 bits, or too many sets of tags, make no pack', () => {
  const large = decodePack(callForm, encodePack(callForm, [[1, 1, 1, 0, 0, ...callForm.sums.map(() => 2n ** 62n)]]));
  assert.equal(mergePacks([large, large], false).form, 2);
  const rows = Array.from({ length: 60_000 }, (_, tags) => [1, 1, 1, 1, tags]);
  assert.equal(mergePacks([packOf(rows)], true).form, 2);
});
