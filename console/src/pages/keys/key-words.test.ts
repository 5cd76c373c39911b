import assert from 'node:assert/strict';
import { test } from 'node:test';

import { unrecordedUse } from './key-words.ts';

test('a key that has spent something was used, also before its use is recorded', () => {
  assert.equal(unrecordedUse({ spent_this_month: { nano_usd: '0', usd: '0' } }), 'never');
  assert.equal(unrecordedUse({ spent_this_month: { nano_usd: '1', usd: '0.000000001' } }), 'just now');
});
