import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { parseUsd } from './parse-usd.ts';
import {
  accountIdOf,
  allPotBits,
  allPots,
  dayNumber,
  limitNanoUsd,
  ownersInOrder,
  paidBy,
  payerOf,
  periodsOf,
  periodStartMs,
  type PotOwner,
  potsOf,
  spanEndMs,
  spendLimitOf,
} from './pots.ts';
import { isScarce, sizeLease } from './size-lease.ts';

test('a period contains its instants and ends where the next begins', () => {
  fc.assert(
    fc.property(fc.integer({ min: 0, max: Date.UTC(2200, 0) }), (atMs) => {
      const { day, month, total } = periodsOf(atMs);
      for (const span of [day, month]) {
        const endMs = spanEndMs(span) ?? assert.fail();
        assert.ok(periodStartMs(span) <= atMs && atMs < endMs);
        const next = periodsOf(endMs);
        assert.equal(periodStartMs(span.length === 10 ? next.day : next.month), endMs);
      }
      assert.equal(spanEndMs(total), undefined);
      assert.equal(periodStartMs(total), 0);
      assert.equal(dayNumber(atMs) * 86_400_000, periodStartMs(day));
    }),
  );
});

test('each kind of pot has a bit of its own, and a payer has the pots of its limits and one balance', () => {
  const nowMs = Date.UTC(2026, 11, 31, 23, 59, 59, 999);
  const all = allPots({ userName: 'ann', keyId: 'k', teamId: 't', acceptedAtMs: nowMs });
  assert.equal(
    all.reduce((sum, { bit }) => sum | bit, 0),
    allPotBits,
  );
  assert.equal(new Set(all.map(({ bit }) => bit)).size, 15);
  assert.deepEqual(
    all.map(({ id }) => id),
    [
      ['balance:ann', 'key:2026-12-31:k', 'key:2026-12:k', 'key:total:k', 'user:2026-12-31:ann', 'user:2026-12:ann', 'user:total:ann'],
      ['balance-of-team:t', 'team:2026-12-31:t', 'team:2026-12:t', 'team:total:t'],
      ['balance-of-organization:1', 'organization:2026-12-31:1', 'organization:2026-12:1', 'organization:total:1'],
    ].flat(),
  );
  const every = { spendPerDay: '1', spendPerMonth: '2', spendTotal: '3' };
  const prepaid = { ...every, prepaid: true as const };
  const payer = {
    id: 'k',
    userName: 'ann',
    limits: every,
    team: { id: 't', name: 'research', limits: prepaid },
    organizationLimits: prepaid,
  };
  const found = (more: object): readonly string[] => potsOf({ ...payer, ...more }, nowMs).map(({ id }) => id);
  const balances = (more: object): readonly string[] => found(more).filter((id) => id.startsWith('balance'));
  assert.deepEqual(
    found({ userLimits: prepaid }).toSorted(),
    all
      .filter(({ kind, owner }) => kind === 'spend' || owner.level === 'user')
      .map(({ id }) => id)
      .toSorted(),
  );
  assert.deepEqual(balances({ userLimits: prepaid }), ['balance:ann'], 'the nearest prepaid level pays');
  assert.deepEqual(balances({ userLimits: every }), ['balance-of-team:t']);
  assert.deepEqual(balances({ team: undefined }), ['balance-of-organization:1']);
  assert.deepEqual(found({ limits: undefined, team: undefined, organizationLimits: undefined }), []);
});

test('owners are locked in one order, each once: users, teams, the organization', () => {
  const user = (userName: string): PotOwner => ({ level: 'user', userName });
  const team = (teamId: string): PotOwner => ({ level: 'team', teamId });
  const owners = [user('bob'), team('2'), user('ann'), { level: 'organization' } as const, team('1'), user('bob')];
  assert.deepEqual(ownersInOrder(owners).map(accountIdOf), ['user:ann', 'user:bob', 'team:1', 'team:2', 'organization:1']);
});

test('the bits of a hold name who pays', () => {
  const call = { userName: 'ann', keyId: 'k', teamId: 't' };
  const bitOf = (id: string): number => allPots({ ...call, acceptedAtMs: 0 }).find((pot) => pot.id === id)?.bit ?? assert.fail();
  assert.equal(payerOf(bitOf('balance:ann') + bitOf('team:total:t')), undefined);
  assert.equal(payerOf(bitOf('balance-of-team:t') + 2), 'team');
  assert.equal(payerOf(bitOf('balance-of-organization:1')), 'organization');
  const accounts = ([undefined, 'team', 'organization'] as const).map((payer) => accountIdOf(paidBy({ ...call, payer })));
  assert.deepEqual(accounts, ['user:ann', 'team:t', 'organization:1']);
});

test('a limit that its owner no longer has does not limit the pot', () => {
  const [, day] = allPots({ userName: 'a', keyId: 'k', acceptedAtMs: 0 });
  assert.ok(day?.kind === 'spend');
  assert.equal(spendLimitOf(day, { spendPerDay: '2', spendTotal: '5' }), 2_000_000_000n);
  for (const limits of [undefined, {}, { spendTotal: '5' }]) assert.equal(spendLimitOf(day, limits), undefined);
});

test('amounts in USD are parsed to the nano-USD, and other texts are not amounts', () => {
  for (const [text, nanoUsd] of [
    ['0', 0n],
    ['25', 25_000_000_000n],
    ['0.000000001', 1n],
    ['0.5', 500_000_000n],
    ['999999999.999999999', 10n ** 18n - 1n],
  ] as const) {
    assert.equal(limitNanoUsd(text), nanoUsd);
    assert.equal(parseUsd(text), nanoUsd);
    assert.equal(parseUsd(`-${text}`), -nanoUsd);
  }
  for (const text of ['', '-', '1e3', '1.', '.5', '01', '+1', '1,5', '1.0000000001', '1000000000', ' 1', '--1', 'NaN'])
    assert.equal(parseUsd(text), undefined, text);
});

test('a lease is at most the rest, at least the need if available, and leaves a share for other nodes', () => {
  const amount = fc.bigInt({ min: -(10n ** 15n), max: 10n ** 15n });
  const positive = fc.bigInt({ min: 0n, max: 10n ** 12n });
  fc.assert(
    fc.property(amount, positive, positive, fc.integer({ min: 1, max: 20 }), (remaining, need, recentSpend, nodes) => {
      const demand = { remaining, need, recentSpend, nodes };
      const size = sizeLease(demand);
      assert.ok(size >= 0n && (size <= remaining || size === 0n));
      if (need === 0n) assert.equal(size, 0n);
      else if (remaining >= need) assert.ok(size >= need);
      if (isScarce(demand) && remaining > need) assert.equal(size, need);
      if (nodes > 1 && need > 0n && size > need) assert.ok(size <= remaining / (4n * BigInt(nodes)));
    }),
  );
});
