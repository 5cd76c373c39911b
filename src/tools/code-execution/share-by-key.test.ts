import assert from 'node:assert/strict';
import { test } from 'node:test';

import { shareByKey } from './share-by-key.ts';

test('a value is made once for each key, and again after a failure', async () => {
  const share = shareByKey<number>();
  let made = 0;
  const next = async (): Promise<number> => (made += 1);
  assert.deepEqual(await Promise.all([share('a', next), share('a', next), share('b', next)]), [1, 1, 2]);
  await assert.rejects(
    share('c', () => Promise.reject(new Error('busy'))),
    /busy/,
  );
  assert.deepEqual([await share('c', next), await share('c', next), await share('a', next)], [3, 3, 1]);
});
