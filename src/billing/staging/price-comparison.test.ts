import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { CallEntry } from '../ledger/call-entry.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { bookOf, plainEntry } from '../rating/testing/price-book-kit.ts';
import { pricedEntry } from '../rating/testing/priced-entry-kit.ts';
import { type ComparisonGrouping, PriceComparison } from './price-comparison.ts';
import { rowOf } from './testing/priced-row-kit.ts';

const tiersOf = (input: string) => ({ tiers: [{ inputAbove: 0, prices: { input, output: '10' } }] });
const current = createPriceBook({ book: bookOf(plainEntry(), plainEntry({ model: 'm-2' })) });

/** A million tokens of input, at 2 USD. */
function booked(more: Partial<CallEntry> = {}): CallEntry {
  const model = { vendor: 'acme', requestedModel: 'm-1', upstreamModel: 'm-1' };
  return pricedEntry(current, { inputTokens: 1_000_000 }, { ...model, ...more });
}

/** Compares rows with a book in which models have these prices for a million tokens of input. */
function compare(rows: readonly CallEntry[], grouping: ComparisonGrouping, input: Readonly<Record<string, string>> = { 'm-1': '3' }) {
  const staged = createPriceBook({
    book: bookOf(...Object.entries(input).map(([model, price]) => plainEntry({ model, ...tiersOf(price) }))),
  });
  const comparison = new PriceComparison(grouping, { staged, current });
  for (const row of rows) comparison.add(rowOf(row), row);
  return comparison.result();
}

test('rows are added up by the requested grouping: user, key id, or requested model', () => {
  const rows = [
    booked(),
    booked({ keyId: 'key_2' }),
    booked({ userName: 'bob', requestedModel: 'fast' }),
    booked({ callId: 'req_1.2', parentCallId: 'req_1' }),
  ];
  for (const [grouping, names] of [
    ['user', ['alice 3', 'bob 1']],
    ['key', ['alice / ci (key_1) 2', 'alice / ci (key_2) 1', 'bob / ci (key_1) 1']],
    ['model', ['m-1 3', 'fast 1']],
  ] as const) {
    const { groups, total } = compare(rows, grouping);
    assert.deepEqual(
      groups.map(({ name, bookedNanoUsd }) => `${name} ${bookedNanoUsd / 2_000_000_000n}`),
      names,
    );
    assert.deepEqual(total, {
      name: 'total',
      calls: 3,
      bookedNanoUsd: 8_000_000_000n,
      inForceNanoUsd: 8_000_000_000n,
      stagedNanoUsd: 12_000_000_000n,
    });
  }
});

test('the largest difference comes first, whether higher or lower, and equal ones are ordered by name', () => {
  const rows = [
    ...['d', 'a', 'c', 'b'].map((userName) => booked({ userName })),
    booked({ userName: 'cheaper', upstreamModel: 'm-2' }),
    booked({ userName: 'twice' }),
    booked({ userName: 'twice' }),
    booked({ userName: 'same', charge: { amountNanoUsd: 3_000_000_000n, lines: [] } }),
  ];
  const { groups } = compare(rows, 'user', { 'm-1': '3', 'm-2': '0.5' });
  assert.deepEqual(
    groups.map(({ name, bookedNanoUsd, stagedNanoUsd }) => [name, Number(stagedNanoUsd - bookedNanoUsd) / 1e9]),
    [
      ['twice', 2],
      ['cheaper', -1.5],
      ['a', 1],
      ['b', 1],
      ['c', 1],
      ['d', 1],
      ['same', 0],
    ],
  );
});

test('rows that cannot be priced exactly are counted by model and reason, the most rows first; uses of tools always can', () => {
  const multipliers = [{ name: 'hd', factor: '/metadata/quality == "hd" or /metadata/size == "xl" ? 2 : 1' }];
  const staged = createPriceBook({ book: bookOf(plainEntry({ multipliers })) });
  const comparison = new PriceComparison('user', { staged, current });
  const tools = booked({ toolUsage: { webSearches: 1 }, upstreamModel: 'no-model' });
  for (const row of [booked({ upstreamModel: 'm-2' }), tools, booked(), booked()]) comparison.add(rowOf(row), row);
  assert.deepEqual(comparison.result().doubtful, [
    { model: 'acme/m-1', reason: 'not stored with the call: /metadata/quality, /metadata/size', rows: 2 },
    { model: 'acme/m-2', reason: 'no price', rows: 1 },
  ]);
});

test('a row of a kind that was priced adds the same as if it were priced itself, without being read', () => {
  const staged = createPriceBook({ book: bookOf(plainEntry(tiersOf('3')), plainEntry({ model: 'm-2', ...tiersOf('0.000001') })) });
  const models = ['m-1', 'm-2', 'unknown'] as const;
  const drawn = fc.record({
    upstreamModel: fc.constantFrom(...models),
    tokens: fc.nat({ max: 3 }),
    end: fc.constantFrom<CallEntry['end'][]>('finished', 'failed'),
    keyId: fc.constantFrom('key_1', 'key_2'),
    parentCallId: fc.constantFrom('req_0', undefined),
    toolUsage: fc.constantFrom({ webSearches: 1 }, undefined),
    acceptedAtMs: fc.nat({ max: 400_000_000 }),
  });
  fc.assert(
    fc.property(fc.array(drawn, { maxLength: 30 }), fc.constantFrom('user', 'key', 'model'), (calls, grouping) => {
      const rows = calls.map(({ tokens, parentCallId, toolUsage, ...call }) => {
        const parts = { ...(parentCallId !== undefined && { parentCallId }), ...(toolUsage !== undefined && { toolUsage }) };
        const entry = booked({ ...call, ...parts, usage: { inputTokens: tokens * 333_333 } });
        const { acceptedAtMs: _own, ...kind } = { ...call, tokens, ...parts };
        return { entry, kind: JSON.stringify(kind) };
      });
      const books = { staged, current, atMs: 0 };
      const [each, byKind] = [new PriceComparison(grouping, books), new PriceComparison(grouping, books)];
      const priced = new Set<string>();
      for (const { entry, kind } of rows) {
        each.add(rowOf(entry), entry);
        assert.equal(byKind.addAgain(rowOf(entry, kind)), priced.has(kind));
        if (!priced.has(kind)) byKind.add(rowOf(entry, kind), entry);
        priced.add(kind);
      }
      assert.deepEqual(byKind.result(), each.result());
    }),
  );
});

test('a row is priced again on another day if the book of its time decides what was read from its request', () => {
  const multipliers = [{ name: 'hd', when: '/metadata/quality == "hd"', factor: '2' }];
  const reading = createPriceBook({ book: bookOf(plainEntry(), plainEntry({ effectiveFrom: '2026-06-01', multipliers })) });
  const comparison = new PriceComparison('user', { staged: reading, current: reading, atMs: Date.parse('2026-07-01T00:00:00Z') });
  const on = (day: string): CallEntry => ({ ...booked({ priceVersion: reading.version }), acceptedAtMs: Date.parse(`${day}T12:00:00Z`) });
  for (const [day, isKnown] of [
    ['2026-05-31', false],
    ['2026-05-31', true],
    ['2026-06-01', false],
    ['2026-06-01', true],
  ] as const) {
    assert.equal(comparison.addAgain(rowOf(on(day), 'same')), isKnown, day);
    if (!isKnown) comparison.add(rowOf(on(day), 'same'), on(day));
  }
  assert.deepEqual(comparison.result().doubtful, [{ model: 'acme/m-1', reason: 'not stored with the call: /metadata/quality', rows: 2 }]);
  assert.equal(comparison.result().total.calls, 4);
});
