import assert from 'node:assert/strict';
import { test } from 'node:test';

import { callImagesMax, callRankingsMax, imageRowId, rankingRowId, roundRowId, rowIdsOf, settlementRowId, toolsRowId } from './row-ids.ts';

test('the first round has the id of the call, and the ids of all rows follow from it', () => {
  assert.deepEqual(
    [roundRowId('a', 1), toolsRowId('a', 1), roundRowId('a', 2), toolsRowId('a', 2)],
    ['a', 'a.1.tools', 'a.2', 'a.2.tools'],
  );
  const ids = rowIdsOf('a');
  assert.deepEqual(ids.slice(0, 4), ['a', settlementRowId('a'), 'a.1.tools', 'a.2']);
  assert.deepEqual(ids.slice(297, 302), ['a.100', 'a.100.settled', 'a.100.tools', rankingRowId('a', 1), 'a.rank.1.settled']);
  assert.equal(ids.at(299 + 2 * callRankingsMax - 1), rankingRowId('a', callRankingsMax));
  assert.equal(ids.at(-2), imageRowId('a', callImagesMax));
  assert.equal(new Set(ids).size, 300 + 2 * callRankingsMax + 2 * callImagesMax);
});
