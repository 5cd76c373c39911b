import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { Usage } from '../../inference/usage.ts';
import { createPriceBook } from './price-book.ts';
import { bookOf, callOf, plainEntry } from './testing/price-book-kit.ts';
import type { RatedCall } from './rating.ts';

const million = 1_000_000;
const tier = (input: string, more: Record<string, string> = {}) => [{ inputAbove: 0, prices: { input, output: '10', ...more } }];

/** The hold of a planned call, in USD. */
function mostOf(entries: readonly Record<string, unknown>[], most: Usage, more: Partial<RatedCall> = {}): number {
  const { usage: _usage, ...call } = callOf({}, more);
  return Number(createPriceBook({ book: bookOf(...entries) }).bound({ ...call, most, expected: {} }).maximumNanoUsd) / 1e9;
}

test('a hold uses the most expensive kind of input for input and of output for output', () => {
  const kinds = { inputAudio: '3', cacheWrite1h: '4', outputAudio: '20', outputImage: '30', reasoning: '40' };
  const entry = plainEntry({ tiers: tier('1', kinds) });
  assert.equal(mostOf([entry], { inputTokens: million }), 4);
  assert.equal(mostOf([entry], { cacheReadTokens: million, cacheWrite5mTokens: million, cacheWrite1hTokens: million }), 12);
  assert.equal(mostOf([entry], { outputTokens: million }), 40);
  for (const name of ['outputAudio', 'outputImage', 'reasoning'])
    assert.equal(mostOf([plainEntry({ tiers: tier('1', { [name]: '5' }) })], { outputTokens: million }), 10, name);
  assert.equal(mostOf([plainEntry({ tiers: tier('50') })], { outputTokens: million }), 10);
});

test('a hold uses the most expensive variant that may apply, and no other', () => {
  const variant = (name: string, input: string, when: string) => plainEntry({ tiers: tier(input), variant: name, when });
  const requested = (quality: string) => ({ pricingParameters: { '/quality': JSON.stringify(quality) } });
  const expensive = [variant('hd', '9', '/quality == "hd"'), plainEntry({ tiers: tier('1') })];
  assert.deepEqual(
    [mostOf(expensive, { inputTokens: million }, requested('hd')), mostOf(expensive, { inputTokens: million }, requested('sd'))],
    [9, 1],
  );
  const cheap = [variant('sd', '1', '/quality == "sd"'), plainEntry({ tiers: tier('9') })];
  assert.deepEqual(
    [mostOf(cheap, { inputTokens: million }, requested('hd')), mostOf(cheap, { inputTokens: million }, requested('sd'))],
    [9, 1],
  );
  for (const [first, second] of [
    ['1', '9'],
    ['9', '1'],
  ] as const) {
    const open = [variant('long', first, 'output_tokens > 5'), plainEntry({ tiers: tier(second) })];
    assert.equal(mostOf(open, { inputTokens: million, outputTokens: 6 }), 9.00006);
  }
});

test('a hold uses the most expensive service tier of a possible reply', () => {
  const entry = plainEntry({ tiers: tier('1'), serviceTiers: { flex: '0.5', fast: '2.5', priority: '3', slow: '0.1' } });
  const most = (serviceTier?: string) => mostOf([entry], { inputTokens: million }, serviceTier === undefined ? {} : { serviceTier });
  assert.deepEqual([undefined, 'auto', '', 'Fast', 'flex', 'default'].map(most), [3, 3, 3, 2.5, 1, 1]);
});

test('a hold uses the tiers that the whole input can reach, and no higher one', () => {
  const tiers = [0, 100, 200].map((inputAbove, index) => ({ inputAbove, prices: { input: String(index + 1), output: '0' } }));
  const held = (usage: Usage) => mostOf([plainEntry({ tiers })], usage) * million;
  const quarter = { inputTokens: 25, cacheReadTokens: 25, cacheWrite5mTokens: 25, cacheWrite1hTokens: 25 };
  assert.deepEqual([held(quarter), held({ ...quarter, cacheWrite1hTokens: 26 })], [100, 202]);
  const charged = (usage: Usage) => createPriceBook({ book: bookOf(plainEntry({ tiers })) }).rate(callOf(usage)).lines[0]?.unitPrice;
  assert.deepEqual([charged(quarter), charged({ ...quarter, cacheWrite1hTokens: 26 })], ['1', '2']);
});
