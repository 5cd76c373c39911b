import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import fc from 'fast-check';

import type { Usage } from '../../inference/usage.ts';
import { loadShippedPriceBook } from './load-shipped-price-book.ts';
import { createPriceBook } from './price-book.ts';
import { recomputeAmount } from './recompute-amount.ts';

const shipped = loadShippedPriceBook();
const sold = shipped.entries.filter(({ multipliers = [] }) => multipliers.some(({ name }) => name === 'regional_endpoint'));
/** The book with these models at a cloud, as a configuration makes it. */
const book = createPriceBook({
  book: { ...shipped, entries: [...shipped.entries, ...sold.map((entry) => ({ ...entry, vendor: 'bedrock' }))] },
});

const count = fc.nat(2_000_000);
const usages: fc.Arbitrary<Usage> = fc.record({
  inputTokens: count,
  cacheReadTokens: count,
  cacheWrite5mTokens: count,
  cacheWrite1hTokens: count,
  outputTokens: count,
  webSearches: fc.nat(20),
});
const regions = fc.constantFrom('eu', 'us', 'apac', 'eu-central-1', 'europe-west1', 'us-gov');

describe('prices of regions', () => {
  const models = fc.constantFrom(...sold);
  const callOf = ({ model, effectiveFrom }: (typeof sold)[number], region?: string) => ({
    vendor: 'bedrock',
    upstreamModel: model,
    requestedModel: 'm',
    acceptedAtMs: Date.parse(`${effectiveFrom}T00:00:00Z`),
    serviceTier: 'default',
    ...(region === undefined ? {} : { pricingParameters: { region } }),
  });

  test('in a region or an area, tokens cost exactly a tenth more than at the global endpoint, and fees the same', () => {
    fc.assert(
      fc.property(models, usages, regions, (entry, usage, region) => {
        const global = book.rate({ ...callOf(entry, 'global'), usage });
        const regional = book.rate({ ...callOf(entry, region), usage });
        const expected = global.lines.map((line) =>
          line.meter.startsWith('web_') ? line : { ...line, multipliers: { ...line.multipliers, tenth: '1.1' } },
        );
        assert.equal(regional.amountNanoUsd, recomputeAmount(expected));
        assert.deepEqual(book.rate({ ...callOf(entry), usage }).lines, global.lines, 'a place that is not known costs no more');
      }),
    );
  });

  test('a hold covers the charge, and for the global endpoint it holds no more than without the rule', () => {
    const rules = new Set(['regional_endpoint', 'us_inference']);
    const plain = sold.map(({ multipliers = [], ...entry }) => ({
      ...entry,
      vendor: 'bedrock',
      multipliers: multipliers.filter(({ name }) => !rules.has(name)),
    }));
    const without = createPriceBook({ book: { ...shipped, entries: plain } });
    fc.assert(
      fc.property(models, usages, regions, (entry, usage, region) => {
        for (const place of [region, 'global']) {
          const call = callOf(entry, place);
          assert.ok(book.most({ ...call, most: usage }) >= book.rate({ ...call, usage }).amountNanoUsd, place);
        }
        const global = { ...callOf(entry, 'global'), most: usage };
        assert.equal(book.most(global), without.most(global));
      }),
    );
  });

  test('what a reply says about its region is not charged a second time at a cloud, and is at the vendor itself', () => {
    const opus = sold.find(({ model }) => model === 'claude-opus-5') ?? assert.fail();
    const usage = { inputTokens: 1_000_000 };
    const factors = (vendor: string, parameters: Record<string, string>) =>
      book.rate({ ...callOf(opus), vendor, usage, pricingParameters: parameters }).lines[0]?.multipliers;
    assert.deepEqual(factors('bedrock', { region: 'us', inference_geo: 'us' }), { regional_endpoint: '1.1' });
    assert.deepEqual(factors('anthropic', { inference_geo: 'us' }), { us_inference: '1.1' });
    assert.equal(factors('bedrock', { region: 'global', inference_geo: 'global' }), undefined);
  });

  test('models before Claude 4.5 have no such rule', () => {
    assert.deepEqual(
      [...new Set(sold.map(({ model }) => model))].filter((model) => /-(?:3|4-[01])/.test(model)),
      [],
    );
    assert.ok(sold.some(({ model }) => model === 'claude-sonnet-4-5'));
  });
});
