import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ReplyBudget } from './reply-budget.ts';

const createBudget = (): ReplyBudget => new ReplyBudget(() => ({ totalBytesMax: 100, apiKeyBytesMax: 60 }));

test('a look into the store forgets nothing of what is being recorded meanwhile', () => {
  const budget = createBudget();
  const share = budget.open('a');
  assert.equal(share.reserve(50), true);
  budget.refresh([]);
  assert.equal(budget.open('a').reserve(11), false);
  assert.equal(budget.open('a').reserve(10), true);
  share.release();
  assert.equal(budget.open('a').reserve(50), true);
  assert.equal(budget.open('a').reserve(1), false);
});

test('what was recorded is counted by the look alone from the next one on', () => {
  const budget = createBudget();
  const share = budget.open('a');
  share.reserve(50);
  share.close();
  budget.refresh([{ keyId: 'a', bytes: 20 }]);
  assert.equal(budget.open('a').reserve(41), false);
  assert.equal(budget.open('a').reserve(40), true);
});

test('what is stored of a running record already is counted twice until the next look, and given back once', () => {
  const budget = createBudget();
  const share = budget.open('a');
  share.reserve(25);
  budget.refresh([
    { keyId: 'a', bytes: 25 },
    { keyId: 'b', bytes: 40 },
  ]);
  assert.equal(budget.open('b').reserve(11), false);
  share.release();
  share.release();
  assert.equal(budget.open('b').reserve(20), true);
  assert.equal(budget.open('c').reserve(16), false);
  assert.equal(budget.open('c').reserve(15), true);
});
