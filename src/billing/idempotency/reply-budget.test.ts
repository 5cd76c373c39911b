import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ReplyBudget } from './reply-budget.ts';

const createBudget = (): ReplyBudget => new ReplyBudget(() => ({ totalBytesMax: 100, apiKeyBytesMax: 60 }));

test('a refresh still counts the answers that are being recorded', () => {
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

test('a finished recording is counted by the refresh only from the next one on', () => {
  const budget = createBudget();
  const share = budget.open('a');
  share.reserve(50);
  share.close();
  budget.refresh([{ keyId: 'a', bytes: 20 }]);
  assert.equal(budget.open('a').reserve(41), false);
  assert.equal(budget.open('a').reserve(40), true);
});

test('the stored part of a running recording is counted twice until the next refresh, and released once', () => {
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
