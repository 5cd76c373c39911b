import assert from 'node:assert/strict';
import { test } from 'node:test';

import { showLimits, showPart, showPrices, tiersOf } from './model-words.ts';

test('a share is in percent, and a small one is not nothing', () => {
  assert.deepEqual([0, 0.001, 0.25, 1].map(showPart), ['0 %', 'under 1 %', '25 %', '100 %']);
});

test('targets are in the tiers of their model, the first one first', () => {
  const target = (id: string, tier: number) => ({ id, tier, upstream: 'u', model: 'm', share: 1, only: null, prices: [] });
  const tiers = tiersOf({ targets: [target('c', 2), target('a', 1), target('b', 1)] });
  assert.deepEqual(
    tiers.map((tier) => tier.map(({ id }) => id)),
    [['a', 'b'], ['c']],
  );
});

test('limits and prices are one line each', () => {
  assert.equal(showLimits(null), 'none');
  assert.equal(showLimits({ requests_per_minute: 60, tokens_per_minute: null, concurrency: 2 }), '60 requests a minute · 2 at a time');
  const line = (meter: string, unit_price_usd: string, per = 1_000_000) => ({ meter, unit_price_usd, per });
  assert.equal(showPrices([line('input', '3'), line('output', '15'), line('image', '0.04', 1)]), '$3 in · $15 out');
});
