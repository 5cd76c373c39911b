import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import { createRetryBudget, type RetryGrant } from './retry-budget.ts';

describe('each receiving upstream has a bucket', () => {
  test('it lasts for a hundred retries without a success, and half as many after time-outs', () => {
    for (const [cost, retries] of [
      [5, 100],
      [10, 50],
    ] as const) {
      const budget = createRetryBudget();
      let granted = 0;
      for (let times = 0; times < 1000; times += 1) {
        const grant = budget.take('u', cost, 1);
        if (grant === undefined) continue;
        granted += 1;
        grant.release();
      }
      assert.equal(granted, retries);
      assert.ok(budget.take('other', cost, 1), 'each upstream has its own');
    }
  });

  test('successes refill it, one for one, and never above its size', () => {
    const budget = createRetryBudget();
    for (let times = 0; times < 100; times += 1) budget.take('u', 5, 1)?.release();
    for (let times = 0; times < 4; times += 1) budget.succeeded('u');
    assert.equal(budget.take('u', 5, 1), undefined);
    budget.succeeded('u');
    assert.ok(budget.take('u', 5, 1));
    for (let times = 0; times < 10_000; times += 1) budget.succeeded('u');
    assert.equal(budget.left('u'), 500);
  });
});

test('an answered retry is refunded: an upstream that fails every other call does not use up the one that replaces it', () => {
  const budget = createRetryBudget();
  for (let times = 0; times < 1000; times += 1) {
    assert.ok(budget.takeFailover('healthy', 5));
    budget.giveBack('healthy', 5);
  }
  assert.equal(budget.left('healthy'), 500);
});

describe('retries at a time are bounded', () => {
  test('they are a fifth of the running calls, and at least three', () => {
    for (const [active, most] of [
      [1, 3],
      [15, 3],
      [20, 4],
      [100, 20],
    ] as const) {
      const budget = createRetryBudget();
      const granted = Array.from({ length: 50 }, (_, index) => budget.take(`u${index}`, 5, active)).filter((grant) => grant !== undefined);
      assert.equal(granted.length, most);
      granted[0]?.release();
      assert.ok(budget.take('u', 5, active));
    }
  });

  test('they do not count if a healthy upstream takes over: only its bucket bounds them', () => {
    const budget = createRetryBudget();
    const moved = Array.from({ length: 150 }, () => budget.takeFailover('healthy', 5)).filter(Boolean);
    assert.equal(moved.length, 100);
    assert.ok(budget.take('other', 5, 1));
    for (let times = 0; times < 5; times += 1) budget.succeeded('healthy');
    assert.ok(budget.takeFailover('healthy', 5));
    assert.ok(!budget.takeFailover('healthy', 5));
  });

  test('a refused retry uses nothing', () => {
    const budget = createRetryBudget();
    for (let times = 0; times < 3; times += 1) budget.take('other', 5, 1);
    for (let times = 0; times < 1000; times += 1) assert.equal(budget.take('u', 5, 1), undefined);
    assert.equal(budget.left('u'), 500);
  });
});

test('in any order of uses, releases and refills the bounds hold, and no bucket goes below zero', () => {
  const step = fc.oneof(
    fc.record({ take: fc.constantFrom('a', 'b'), cost: fc.constantFrom(5, 10), active: fc.integer({ min: 1, max: 60 }) }),
    fc.record({ release: fc.nat() }),
    fc.record({ succeed: fc.constantFrom('a', 'b') }),
  );
  fc.assert(
    fc.property(fc.array(step, { maxLength: 400, size: 'max' }), (steps) => {
      const budget = createRetryBudget();
      const running = new Set<RetryGrant>();
      for (const each of steps) {
        if ('take' in each) {
          const most = Math.max(3, Math.floor(each.active / 5));
          const before = budget.left(each.take);
          const grant = budget.take(each.take, each.cost, each.active);
          assert.equal(grant !== undefined, running.size < most && before >= each.cost);
          assert.equal(budget.left(each.take), grant === undefined ? before : before - each.cost);
          if (grant !== undefined) running.add(grant);
        } else if ('release' in each) {
          const grant = [...running][each.release % Math.max(1, running.size)];
          grant?.release();
          grant?.release();
          if (grant !== undefined) running.delete(grant);
        } else {
          const before = budget.left(each.succeed);
          budget.succeeded(each.succeed);
          assert.equal(budget.left(each.succeed), Math.min(500, before + 1));
        }
      }
    }),
  );
});
