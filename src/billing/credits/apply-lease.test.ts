import assert from 'node:assert/strict';
import { test } from 'node:test';

import { applyLease, leasedOf, type LeaseRow, unlessOver } from './apply-lease.ts';
import type { LeaseRequest } from './credit-store.ts';
import { balancePot } from './pots.ts';
import { isScarce, sizeLease } from './size-lease.ts';

const pot = balancePot('ann');
const row: LeaseRow = { generation: 'g', version: 3, granted: 100n, shipped: 40n, closing: false };
const asks: LeaseRequest = { pot, version: 3, generation: 'g', keep: 100n, need: 0n, recentSpend: 0n, close: false };
const alone = { limit: 1000n, spent: 100n, leasedElsewhere: 0n, stranded: 0n, nodes: 1 };

test('what a lease takes away from the others is what was granted and is not in the books', () => {
  assert.equal(leasedOf({ granted: 7n, shipped: 3n }), 4n);
  assert.equal(leasedOf({ granted: 3n, shipped: 3n }), 0n);
  assert.equal(leasedOf({ granted: 3n, shipped: 7n }), 0n);
});

test('a lease that was closed is over once all of it is in the books', () => {
  const closed = { ...row, closing: true };
  assert.equal(unlessOver({ ...closed, shipped: 99n })?.granted, 100n);
  assert.equal(unlessOver({ ...closed, shipped: 100n }), undefined);
  assert.equal(unlessOver({ ...closed, shipped: 101n }), undefined);
  assert.equal(unlessOver({ ...row, shipped: 100n })?.granted, 100n);
});

test('a first request begins a lease of what is needed many times over, and says what is left', () => {
  const { row: next, state, recall } = applyLease(undefined, { ...asks, version: 0, keep: 0n, need: 10n }, alone);
  // Sixteen times what is needed, as the fourth of what is free is more.
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

test('what is given back is free at once, and what is needed comes out of what nobody has', () => {
  const { row: next, state } = applyLease(row, { ...asks, keep: 60n, need: 0n }, alone);
  assert.deepEqual([next?.granted, next?.version, next?.shipped, state.remaining], [60n, 4, 40n, 880n]);
});

test('a node that does not know the lease as it is changes nothing and is told how it is', () => {
  for (const unknown of [{ version: 2 }, { generation: 'h' }]) {
    const { row: next, state } = applyLease(row, { ...asks, ...unknown, keep: 0n, need: 50n, close: true }, alone);
    assert.deepEqual(next, row);
    assert.deepEqual([state.version, state.generation, state.granted, state.remaining], [3, 'g', 100n, 840n]);
    const crowded = { ...alone, leasedElsewhere: 900n, nodes: 2 };
    const told = applyLease(row, { ...asks, ...unknown, need: 50n }, crowded);
    assert.deepEqual([told.recall, told.state.remaining], [false, -60n]);
  }
  const { row: none, state } = applyLease(undefined, { ...asks, need: 50n }, alone);
  assert.equal(none, undefined);
  assert.deepEqual([state.version, state.granted, state.remaining], [0, 0n, 900n]);
});

test('a debt that a node acknowledges takes nothing from anybody, as it is spent already', () => {
  // 130 were charged of 100 granted: the node keeps 130, needs 20 more, and 30 of what is spent are what it covers.
  const { row: next, state } = applyLease({ ...row, shipped: 130n }, { ...asks, keep: 100n, need: 900n }, { ...alone, spent: 130n });
  assert.equal(next?.granted, 1000n);
  assert.equal(state.remaining, 0n);
});

test('where nothing limits any more nothing is granted and nothing remains', () => {
  const unlimited = { ...alone, limit: undefined, leasedElsewhere: 5n };
  const { row: next, state, recall } = applyLease(row, { ...asks, need: 50n }, unlimited);
  assert.deepEqual([next?.granted, state.limit, state.remaining, recall], [100n, undefined, 0n, false]);
});

test('a closed lease whose charges are not in the books stays until they are', () => {
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
  test(`others are asked to give back where more was needed and they have some: ${what}`, () => {
    assert.equal(applyLease(row, { ...asks, need }, { ...alone, leasedElsewhere, nodes: 2 }).recall, recall);
  });

for (const [what, question, size, scarce] of [
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
    const asked = { recentSpend: 0n, nodes: 2, ...question };
    assert.equal(sizeLease(asked), size);
    assert.equal(isScarce(asked), scarce);
  });
