import assert from 'node:assert/strict';
import { test } from 'node:test';

import { applyLease, leasedOf, type LeaseRow, unlessEnded } from './apply-lease.ts';
import type { LeaseRequest } from './credit-store.ts';
import { balancePot } from './pots.ts';
import { isScarce, sizeLease } from './size-lease.ts';

const pot = balancePot('ann');
const row: LeaseRow = { generation: 'g', version: 3, granted: 100n, shipped: 40n, closing: false };
const asks: LeaseRequest = { pot, version: 3, generation: 'g', keep: 100n, need: 0n, recentSpend: 0n, close: false };
const alone = { limit: 1000n, spent: 100n, leasedElsewhere: 0n, stranded: 0n, nodes: 1 };

test('a lease withholds from other nodes the amount that was granted and is not booked', () => {
  assert.equal(leasedOf({ granted: 7n, shipped: 3n }), 4n);
  assert.equal(leasedOf({ granted: 3n, shipped: 3n }), 0n);
  assert.equal(leasedOf({ granted: 3n, shipped: 7n }), 0n);
});

test('a closed lease ends when all of it is booked', () => {
  const closed = { ...row, closing: true };
  assert.equal(unlessEnded({ ...closed, shipped: 99n })?.granted, 100n);
  assert.equal(unlessEnded({ ...closed, shipped: 100n }), undefined);
  assert.equal(unlessEnded({ ...closed, shipped: 101n }), undefined);
  assert.equal(unlessEnded({ ...row, shipped: 100n })?.granted, 100n);
});

test('a first request begins a lease of a multiple of the need, and reports the remaining amount', () => {
  const { row: next, state, recall } = applyLease(undefined, { ...asks, version: 0, keep: 0n, need: 10n }, alone);
  // Sixteen times the need, because a fourth of the free amount is more.
  assert.deepEqual(next, { generation: 'g', version: 1, granted: 160n, shipped: 0n, closing: false });
  assert.deepEqual(state, {
    potId: 'balance:ann',
    version: 1,
    generation: 'g',
    granted: 160n,
    limit: 1000n,
    remaining: 740n,
    leasedElsewhere: 0n,
    stranded: 0n,
    scarce: false,
  });
  assert.equal(recall, false);
});

test('a returned amount is free at once, and a need is granted from the free amount', () => {
  const { row: next, state } = applyLease(row, { ...asks, keep: 60n, need: 0n }, alone);
  assert.deepEqual([next?.granted, next?.version, next?.shipped, state.remaining], [60n, 4, 40n, 880n]);
});

test('a request with an old version changes nothing and gets the state of the lease', () => {
  for (const unknown of [{ version: 2 }, { generation: 'h' }]) {
    const { row: next, state } = applyLease(row, { ...asks, ...unknown, keep: 0n, need: 50n, close: true }, alone);
    assert.deepEqual(next, row);
    assert.deepEqual([state.version, state.generation, state.granted, state.remaining], [3, 'g', 100n, 840n]);
    const crowded = { ...alone, leasedElsewhere: 900n, nodes: 2 };
    const outcome = applyLease(row, { ...asks, ...unknown, need: 50n }, crowded);
    assert.deepEqual([outcome.recall, outcome.state.remaining], [false, -60n]);
  }
  const { row: none, state } = applyLease(undefined, { ...asks, need: 50n }, alone);
  assert.equal(none, undefined);
  assert.deepEqual([state.version, state.granted, state.remaining], [0, 0n, 900n]);
});

test('an acknowledged debt takes nothing from other nodes, because it is spent already', () => {
  // 130 were charged of 100 granted: the node keeps 130 and needs 20 more, and the 30 are part of the spent amount.
  const { row: next, state } = applyLease({ ...row, shipped: 130n }, { ...asks, keep: 100n, need: 900n }, { ...alone, spent: 130n });
  assert.equal(next?.granted, 1000n);
  assert.equal(state.remaining, 0n);
});

test('without a limit nothing is granted and nothing remains', () => {
  const unlimited = { ...alone, limit: undefined, leasedElsewhere: 5n };
  const { row: next, state, recall } = applyLease(row, { ...asks, need: 50n }, unlimited);
  assert.deepEqual([next?.granted, state.limit, state.remaining, recall], [100n, undefined, 0n, false]);
});

test('a closed lease stays until its charges are booked', () => {
  const open = applyLease(row, { ...asks, keep: 90n, close: true }, alone);
  assert.deepEqual([open.row?.closing, open.row?.granted, open.state.version], [true, 90n, 4]);
  const over = applyLease(row, { ...asks, keep: 40n, close: true }, alone);
  assert.deepEqual([over.row, over.state.version, over.state.granted, over.state.remaining], [undefined, 0, 0n, 900n]);
});

for (const [what, need, leasedElsewhere, recall] of [
  ['all that was needed was granted', 100n, 500n, false],
  ['others have what is lacking', 2000n, 500n, true],
  ['nobody has it', 2000n, 0n, false],
] as const)
  test(`other nodes are recalled if more was needed and they have some: ${what}`, () => {
    assert.equal(applyLease(row, { ...asks, need }, { ...alone, leasedElsewhere, nodes: 2 }).recall, recall);
  });

for (const [what, demand, size, scarce] of [
  ['nothing is needed', { remaining: 100n, need: 0n }, 0n, false],
  ['nothing is left', { remaining: 0n, need: 10n }, 0n, true],
  ['less is left than nothing', { remaining: -5n, need: 10n }, 0n, true],
  ['less is left than is needed', { remaining: 9n, need: 10n }, 9n, true],
  ['as much is left', { remaining: 10n, need: 10n }, 10n, true],
  ['there is just too little to share', { remaining: 49n, need: 10n }, 10n, true],
  ['there is just enough to share, and its part is less than is needed', { remaining: 50n, need: 10n }, 10n, false],
  ['its part is more than is needed', { remaining: 800n, need: 10n }, 100n, false],
  ['it has spent nothing, and its part is large', { remaining: 100_000n, need: 10n }, 160n, false],
  ['it spends more than that', { remaining: 100_000n, need: 10n, recentSpend: 161n }, 161n, false],
  ['it spends more than its part', { remaining: 100_000n, need: 10n, recentSpend: 50_000n }, 12_500n, false],
  ['it is alone and the pot nears its end', { remaining: 49n, need: 10n, nodes: 1 }, 49n, false],
  ['it is alone', { remaining: 100_000n, need: 10n, nodes: 1, recentSpend: 50_000n }, 25_000n, false],
  ['nobody was counted', { remaining: 100_000n, need: 10n, nodes: 0, recentSpend: 50_000n }, 25_000n, false],
] as const)
  test(`a lease when ${what}: ${size}${scarce ? ', scarce' : ''}`, () => {
    const fullDemand = { recentSpend: 0n, nodes: 2, ...demand };
    assert.equal(sizeLease(fullDemand), size);
    assert.equal(isScarce(fullDemand), scarce);
  });
