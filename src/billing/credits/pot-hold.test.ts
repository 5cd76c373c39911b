import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { CreditRefusal } from './credit-desk.ts';
import { LeasedPot } from './leased-pot.ts';
import { PotHold } from './pot-hold.ts';
import { allPots } from './pots.ts';

const [balance, day] = allPots({ userName: 'ann', keyId: 'k', acceptedAtMs: 0 });
const refusal: CreditRefusal = { admitted: false, reason: 'unavailable' };

/** Two pots with a lease of 100 nano-USD each, a hold of 60 in both, and its effects. */
function createWorld() {
  const world = { nowMs: 0, isClosed: false, waiting: 0, woken: 0, overdrafts: [] as bigint[] };
  const queue = {
    get waiting() {
      return world.waiting;
    },
    wake: () => void (world.woken += 1),
  };
  const pots = [balance ?? assert.fail(), day ?? assert.fail()].map((pot) => {
    const leased = new LeasedPot(pot, 'g', 0);
    const rest = { generation: 'g', version: 1, limit: 1000n, remaining: 0n, leasedElsewhere: 0n, stranded: 0n, scarce: false };
    leased.queue = queue;
    leased.apply({ potId: pot.id, granted: 100n, ...rest }, false);
    return leased;
  });
  const [first, second] = pots;
  const waiters: { readonly nanoUsd: bigint; readonly settle: (answer: CreditRefusal | undefined) => void }[] = [];
  const queues = {
    wait: (_: unknown, nanoUsd: bigint, settle: (answer: CreditRefusal | undefined) => void) => void waiters.push({ nanoUsd, settle }),
  };
  const hold = new PotHold(pots, 60n, {
    queues,
    monotonicMs: () => world.nowMs,
    isClosed: () => world.isClosed,
    onOverdraft: (_, nanoUsd) => void world.overdrafts.push(nanoUsd),
  });
  return { world, first: first ?? assert.fail(), second: second ?? assert.fail(), waiters, hold };
}

test('a hold takes its amount from each pot, names them, and is counted there', () => {
  const { first, second, hold } = createWorld();
  assert.deepEqual([hold.pots, hold.heldNanoUsd()], [3, 60n]);
  for (const pot of [first, second]) assert.deepEqual([pot.free, pot.held, pot.openHolds], [40n, 60n, 1]);
});

test('an extension is reserved at once if each pot has it, and 0 reserves nothing', () => {
  const { world, first, hold } = createWorld();
  world.nowMs = 7;
  assert.equal(hold.extend(40n), undefined);
  assert.deepEqual([hold.heldNanoUsd(), first.free, first.lastUsedMs], [100n, 0n, 7]);
  world.nowMs = 8;
  for (const nothing of [0n, -5n]) assert.equal(hold.extend(nothing), undefined);
  assert.deepEqual([hold.heldNanoUsd(), first.free, first.lastUsedMs], [100n, 0n, 7]);
});

test('an extension that is not available waits: it is reserved when granted, and not when refused', async () => {
  const { first, waiters, hold } = createWorld();
  const [granted, refused] = [hold.extend(41n), hold.extend(50n)];
  assert.deepEqual(
    waiters.map(({ nanoUsd }) => nanoUsd),
    [41n, 50n],
  );
  waiters[0]?.settle(undefined);
  waiters[1]?.settle(refusal);
  assert.deepEqual([await granted, await refused], [undefined, refusal]);
  assert.deepEqual([hold.heldNanoUsd(), first.held], [101n, 101n]);
});

test('an ended call gets nothing more, not even an amount that it waited for', async () => {
  const { first, waiters, hold } = createWorld();
  const late = hold.extend(41n);
  hold.end();
  waiters[0]?.settle(undefined);
  assert.equal(await late, undefined);
  assert.equal(hold.extend(5n), undefined);
  assert.deepEqual([hold.heldNanoUsd(), first.free, first.held], [0n, 100n, 0n]);
});

test('a closed desk grants nothing more', () => {
  const { world, hold } = createWorld();
  world.isClosed = true;
  assert.deepEqual(hold.extend(5n), refusal);
  assert.equal(hold.heldNanoUsd(), 60n);
});

test('a charge reduces the hold once, and only an amount beyond the lease is reported', () => {
  const { world, first, second, hold } = createWorld();
  for (const nothing of [0n, -5n]) hold.charge(nothing);
  hold.charge(50n);
  assert.deepEqual([hold.heldNanoUsd(), first.held, first.free], [60n, 10n, 40n]);
  hold.charge(30n);
  assert.deepEqual([hold.heldNanoUsd(), first.held, first.free], [80n, 0n, 20n]);
  assert.deepEqual(world.overdrafts, []);
  second.removed = true;
  hold.charge(25n);
  assert.deepEqual([first.free, second.free, world.overdrafts], [-5n, 20n, [5n]]);
});

test('an end releases the uncharged part of the hold, once', () => {
  const { world, first, hold } = createWorld();
  hold.charge(10n);
  world.nowMs = 9;
  hold.end();
  world.nowMs = 10;
  hold.end();
  assert.deepEqual([first.free, first.held, first.openHolds, first.lastUsedMs, world.woken], [90n, 0n, 0, 9, 0]);
});

for (const [what, change] of [
  ['a pot is scarce', { scarce: true }],
  ['another process wants it', { recalled: true }],
  ['it is to be closed', { closing: true }],
  ['nothing limits it any more', { limited: false }],
  ['more is leased than there is', { remaining: -1n }],
] as const)
  test(`an end wakes the queue when ${what}`, () => {
    const { world, second, hold } = createWorld();
    Object.assign(second, change);
    hold.end();
    assert.ok(world.woken > 0);
  });

test('an end wakes the queue when a call waits', () => {
  const { world, hold } = createWorld();
  world.waiting = 1;
  hold.end();
  assert.ok(world.woken > 0);
});
