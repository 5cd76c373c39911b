import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { LeaseState } from './credit-store.ts';
import { LeasedPot } from './leased-pot.ts';
import { balancePot } from './pots.ts';

const pot = balancePot('ann');
const minute = 60_000;
const asks = { need: 0n, release: 0n, close: false, nowMs: 0 };
const state: LeaseState = {
  potId: pot.id,
  version: 1,
  generation: 'g',
  granted: 100n,
  limit: 1000n,
  remaining: 900n,
  leasedElsewhere: 7n,
  stranded: 0n,
  scarce: true,
};

/** A pot of which 100 nano-USD are leased. */
function leased(): LeasedPot {
  const leasedPot = new LeasedPot(pot, 'g', 0);
  leasedPot.request(asks);
  leasedPot.apply(state, false);
  return leasedPot;
}

test('a pot without a lease admits nothing, not even an amount of 0, and one without a limit admits everything', () => {
  const fresh = new LeasedPot(pot, 'g', 5);
  assert.deepEqual([fresh.fits(0n), fresh.lastUsedMs], [false, 5]);
  assert.deepEqual([fresh.scarce, fresh.recalled, fresh.stale, fresh.closing, fresh.removed], [false, false, false, false, false]);
  const own = leased();
  assert.deepEqual([own.fits(100n), own.fits(101n)], [true, false]);
  own.apply({ ...state, limit: undefined, version: 0, granted: 0n }, false);
  assert.deepEqual([own.limited, own.limit, own.fits(10_000n)], [false, 0n, true]);
  own.relimit();
  assert.equal(own.fits(0n), false);
});

test('the state of the store is applied', () => {
  const own = leased();
  own.stale = true;
  own.apply({ ...state, version: 2 }, false);
  const { free, granted, version, limit, remaining, leasedElsewhere, scarce, stale, open } = own;
  assert.deepEqual(
    { free, granted, version, limit, remaining, leasedElsewhere, scarce, stale, open },
    { free: 100n, granted: 100n, version: 2, limit: 1000n, remaining: 900n, leasedElsewhere: 7n, scarce: true, stale: false, open: true },
  );
});

test('a held amount is not free until it is released', () => {
  const own = leased();
  own.hold(60n);
  assert.deepEqual([own.free, own.held], [40n, 60n]);
  own.release(25n);
  assert.deepEqual([own.free, own.held], [65n, 35n]);
});

test('a charge uses its reserve, and returns only the additional overdraft', () => {
  const own = leased();
  own.hold(60n);
  assert.equal(own.charge(60n, 60n, 0), 0n);
  assert.deepEqual([own.free, own.held], [40n, 0n]);
  assert.equal(own.charge(40n, 0n, 0), 0n);
  assert.equal(own.charge(5n, 0n, 0), 5n);
  assert.equal(own.charge(3n, 0n, 0), 3n);
  assert.equal(own.free, -8n);
  own.limited = false;
  assert.equal(own.charge(3n, 0n, 0), 0n);
});

test('the recent spend covers five to ten minutes', () => {
  const own = leased();
  own.charge(1n, 0n, 0);
  own.charge(2n, 0n, 5 * minute - 1);
  assert.equal(own.recentSpend(5 * minute - 1), 3n);
  own.charge(4n, 0n, 5 * minute);
  assert.equal(own.recentSpend(5 * minute), 7n);
  assert.equal(own.recentSpend(10 * minute - 1), 7n);
  assert.equal(own.recentSpend(10 * minute), 4n);
  own.charge(8n, 0n, 10 * minute);
  assert.equal(own.recentSpend(20 * minute - 1), 8n);
  own.charge(16n, 0n, 25 * minute);
  assert.equal(own.recentSpend(35 * minute), 0n);
});

test('a request returns free amounts at once, and asks for the need', () => {
  const own = leased();
  own.charge(10n, 0n, 0);
  const request = own.request({ need: 5n, release: 30n, close: true, nowMs: 0 });
  assert.deepEqual(request, { pot, version: 1, generation: 'g', keep: 70n, need: 5n, recentSpend: 10n, close: true });
  assert.deepEqual([own.free, own.granted], [60n, 70n]);
});

test('a request acknowledges charges beyond the lease', () => {
  const own = leased();
  own.charge(130n, 0n, 0);
  assert.equal(own.request(asks).keep, 130n);
  assert.deepEqual([own.free, own.granted], [0n, 130n]);
  own.apply({ ...state, version: 2, granted: 150n }, false);
  assert.equal(own.free, 20n);
});

test('a lease of another incarnation cannot be spent, and our overdraft is counted again', () => {
  const own = leased();
  own.charge(130n, 0n, 0);
  own.request(asks);
  own.apply({ ...state, generation: 'h', version: 9, granted: 500n }, false);
  assert.deepEqual([own.free, own.generation, own.granted, own.version], [-30n, 'h', 500n, 9]);
});

test('a lease that the store no longer has is not open, and its overdraft remains', () => {
  const own = leased();
  own.charge(130n, 0n, 0);
  own.request(asks);
  own.apply({ ...state, version: 0, granted: 0n }, false);
  assert.deepEqual([own.free, own.open], [-30n, false]);
  own.request({ ...asks, close: true });
  own.apply({ ...state, generation: 'h', version: 0, granted: 0n }, true);
  assert.deepEqual([own.free, own.open], [0n, false]);
});

test('an ended lease leaves nothing; a closed one is not open until it is requested again', () => {
  const own = leased();
  own.request({ ...asks, release: 100n, close: true });
  own.apply({ ...state, version: 0, granted: 0n }, true);
  assert.deepEqual([own.free, own.granted, own.version, own.open], [0n, 0n, 0, false]);
  const charged = leased();
  charged.charge(130n, 0n, 0);
  charged.request({ ...asks, close: true });
  charged.apply({ ...state, version: 2, granted: 130n }, true);
  assert.deepEqual([charged.free, charged.open], [0n, false]);
});
