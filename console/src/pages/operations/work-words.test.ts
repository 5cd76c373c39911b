import assert from 'node:assert/strict';
import { test } from 'node:test';

import { aboutOf, placeOfWork, textOfKind } from './work-words.ts';

test('work leads to where its result is shown', () => {
  assert.deepEqual(placeOfWork({ id: 'op_1', kind: 'upstreams.check', input: { upstream: 'house' } }), {
    to: '/upstreams/house',
    search: { check: 'op_1' },
  });
  assert.deepEqual(placeOfWork({ id: 'op_2', kind: 'prices.stage', input: { draft_id: 'drf_1', days: 30 } }), {
    to: '/prices/drafts/drf_1',
    search: { step: '3', op: 'op_2' },
  });
});

test('work of a kind that is not known here, or without its object, has its name and no place', () => {
  assert.equal(textOfKind('files.sweep'), 'files.sweep');
  for (const work of [
    { id: 'op_3', kind: 'files.sweep', input: { upstream: 'house' } },
    { id: 'op_4', kind: 'upstreams.check', input: null },
    { id: 'op_5', kind: 'upstreams.check', input: { upstream: 5 } },
  ]) {
    assert.equal(aboutOf(work), undefined);
    assert.equal(placeOfWork(work), undefined);
  }
});
