import assert from 'node:assert/strict';
import { test } from 'node:test';

import { roundRowId, rowIdsOf, toolsRowId } from './row-ids.ts';

test('the first round is the call, and every row that a call can have is found by its id', () => {
  assert.deepEqual(
    [roundRowId('a', 1), toolsRowId('a', 1), roundRowId('a', 2), toolsRowId('a', 2)],
    ['a', 'a.1.tools', 'a.2', 'a.2.tools'],
  );
  const ids = rowIdsOf('a');
  assert.deepEqual(ids.slice(0, 4), ['a', 'a.1.tools', 'a.2', 'a.2.tools']);
  assert.deepEqual(ids.slice(-2), ['a.100', 'a.100.tools']);
  assert.equal(new Set(ids).size, 200);
});
