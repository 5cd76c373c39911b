import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { Usage } from '../../inference/usage.ts';
import type { CallEntry } from '../ledger/call-entry.ts';
import { settleTools } from '../metering/settle-tools.ts';
import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { acceptedAtMs, bookOf, plainEntry } from '../rating/testing/price-book-kit.ts';
import { pricedEntry } from '../rating/testing/priced-entry-kit.ts';
import { PriceComparison } from './price-comparison.ts';
import { repriceEntry } from './reprice-entry.ts';
import { rowOf } from './testing/priced-row-kit.ts';

const shipped = loadShippedPriceBook();
const current = createPriceBook({ book: shipped, toolPrices: { webSearch: '0.01' }, factors: { users: { bob: '0.9' } } });

const entryOf = (usage: Usage, more: Partial<CallEntry> = {}, book = current): CallEntry => pricedEntry(book, usage, more);

const count = fc.nat(3_000_000);
const usages: fc.Arbitrary<Usage> = fc.record(
  {
    inputTokens: count,
    cacheReadTokens: count,
    cacheWrite5mTokens: count,
    cacheWrite1hTokens: count,
    outputTokens: count,
    webSearches: fc.nat(20),
    outputVideoMs: count,
    inputCharacters: count,
  },
  { requiredKeys: [], noNullPrototype: true },
);
const rows: fc.Arbitrary<CallEntry> = fc
  .record({
    usage: usages,
    priced: fc.constantFrom(...shipped.entries),
    userName: fc.constantFrom('alice', 'bob'),
    serviceTier: fc.constantFrom('default', 'flex', 'batch', 'priority'),
    end: fc.constantFrom<CallEntry['end'][]>('finished', 'client-left', 'cut', 'lost'),
    parameters: fc.constantFrom({}, { resolution: '720p' }, { speed: 'fast', inference_geo: 'us' }),
    beforeDays: fc.nat(500),
  })
  .map(({ usage, priced: { vendor, model }, parameters, beforeDays, ...rest }) =>
    entryOf(usage, {
      vendor,
      upstreamModel: model,
      requestedModel: model,
      acceptedAtMs: acceptedAtMs - beforeDays * 86_400_000,
      pricingParameters: parameters,
      ...rest,
    }),
  );

test('with the same book every kind of row has the booked cost', () => {
  fc.assert(
    fc.property(fc.array(rows, { maxLength: 20 }), fc.constantFrom('user', 'key', 'model'), (entries, grouping) => {
      const comparison = new PriceComparison(grouping, { staged: current, current });
      for (const entry of entries) {
        assert.equal(repriceEntry(entry, { staged: current, current })?.stagedNanoUsd, entry.charge.amountNanoUsd);
        comparison.add(rowOf(entry), entry);
      }
      const { total, groups } = comparison.result();
      assert.equal(total.stagedNanoUsd, total.bookedNanoUsd);
      assert.equal(
        total.bookedNanoUsd,
        entries.reduce((sum, { charge }) => sum + charge.amountNanoUsd, 0n),
      );
      for (const { bookedNanoUsd, stagedNanoUsd } of groups) assert.equal(stagedNanoUsd, bookedNanoUsd);
    }),
    { numRuns: 60 },
  );
});

test('uses of tools have the prices of tools, with the factor of the user', () => {
  const toolUsage = { webSearches: 3 };
  const opening = { ...entryOf({}, { callId: 'req_1.1.tools', parentCallId: 'req_1', userName: 'bob' }), toolUsage };
  const row = settleTools(opening, toolUsage, current, 3);
  const dearer = createPriceBook({ book: shipped, toolPrices: { webSearch: '0.02' } });
  assert.equal(row.charge.amountNanoUsd, 27_000_000n);
  const repriced = repriceEntry(row, { staged: dearer, current });
  assert.deepEqual([repriced?.inForceNanoUsd, repriced?.stagedNanoUsd], [27_000_000n, 60_000_000n]);
});

test('an uncharged row is not counted; a row without a price, and a value that was not stored, are named', () => {
  const old = createPriceBook({ book: bookOf(plainEntry()) });
  const model = { vendor: 'acme', upstreamModel: 'm-1', requestedModel: 'm-1' };
  const entry = entryOf({ inputTokens: 1_000_000 }, model, old);
  const multipliers = [{ name: 'hd', when: '/metadata/quality == "hd"', factor: '2' }];
  const asking = createPriceBook({ book: bookOf(plainEntry({ multipliers })) });
  const comparison = new PriceComparison('model', { staged: asking, current: old });
  const parameters = { '/metadata/quality': '"hd"' };
  const free: Partial<CallEntry> = { upstreamModel: 'm-2', charge: { amountNanoUsd: 0n, lines: [] } };
  for (const more of [{}, { pricingParameters: parameters }, { end: 'failed' as const }, free])
    comparison.add(rowOf({ ...entry, ...more }), { ...entry, ...more });
  const { groups, doubtful } = comparison.result();
  assert.deepEqual(groups, [
    { name: 'm-1', calls: 3, bookedNanoUsd: 4_000_000_000n, inForceNanoUsd: 4_000_000_000n, stagedNanoUsd: 6_000_000_000n },
  ]);
  assert.deepEqual(doubtful, [
    { model: 'acme/m-1', reason: 'not stored with the call: /metadata/quality', rows: 1 },
    { model: 'acme/m-2', reason: 'no price', rows: 1 },
  ]);
});

test('a missing value that the book in force reads was not in the request, so the price is exact', () => {
  const multipliers = [{ name: 'hd', when: '/metadata/quality == "hd"', factor: '2' }];
  const book = createPriceBook({ book: bookOf(plainEntry({ multipliers })) });
  const entry = entryOf({ inputTokens: 10 }, { vendor: 'acme', upstreamModel: 'm-1', requestedModel: 'm-1' }, book);
  assert.deepEqual(repriceEntry(entry, { staged: book, current: book })?.missing, []);
  const older = { ...entry, priceVersion: 'older' };
  assert.deepEqual(repriceEntry(older, { staged: book, current: book })?.missing, ['/metadata/quality']);
  // The book of that version is known, and read the value: so the value was absent.
  const pricedBy = (version: string) => (version === 'older' ? book : undefined);
  assert.deepEqual(repriceEntry(older, { staged: book, current: book, pricedBy })?.missing, []);
  const unread = createPriceBook({ book: bookOf(plainEntry()) });
  assert.deepEqual(repriceEntry(older, { staged: book, current: book, pricedBy: () => unread })?.missing, ['/metadata/quality']);
});
