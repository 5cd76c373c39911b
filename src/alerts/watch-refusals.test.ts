import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CreditDesk, CreditRefusal } from '../billing/credits/credit-desk.ts';
import { watchRefusals } from './watch-refusals.ts';

const nowMs = Date.UTC(2026, 10, 26);
const payer = { id: 'k', userName: 'ann', limits: { spendPerDay: '1' }, userLimits: { spendPerMonth: '2' } };
const refusal = (scope: 'key' | 'user', period: 'day' | 'month'): CreditRefusal => {
  return { admitted: false, reason: 'spend-limit', scope, period, limitNanoUsd: 1n, availableNanoUsd: 0n };
};
const deskOf = (outcome: ReturnType<CreditDesk['hold']>): CreditDesk => ({ hold: () => outcome });

test('the limits that refuse calls are remembered for a time, each once, also if the answer comes later', async () => {
  const now = watchRefusals(deskOf(refusal('key', 'day')));
  now.desk.hold(payer, 1n, nowMs);
  now.desk.hold(payer, 1n, nowMs + 5);
  assert.deepEqual(now.since(nowMs), [{ rule: 'budget', subject: 'key:2026-11-26:k', member: 'refused', state: 'bad' }]);
  assert.deepEqual(now.since(nowMs + 6), []);
  const later = watchRefusals(deskOf(Promise.resolve(refusal('user', 'month'))));
  assert.deepEqual(await later.desk.hold(payer, 1n, nowMs), refusal('user', 'month'));
  assert.deepEqual(
    later.since(nowMs).map(({ subject }) => subject),
    ['user:2026-11:ann'],
  );
});

test('admitted calls, calls without limits and empty balances leave nothing', async () => {
  for (const outcome of [
    undefined,
    { admitted: false, reason: 'balance', scope: 'user', availableNanoUsd: 0n } as const,
    Promise.resolve({ admitted: false, reason: 'unavailable' } as const),
  ]) {
    const watch = watchRefusals(deskOf(outcome));
    assert.deepEqual(await watch.desk.hold(payer, 1n, nowMs), await outcome);
    assert.deepEqual(watch.since(0), []);
  }
});
