import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { JsonValue } from '../../../platform/json/json-value.ts';
import { importOptions, importSound } from './testing/import-kit.ts';
import { importPrices } from './import-prices.ts';

/** One model of a vendor as LiteLLM lists it. */
const lite = (members: Record<string, JsonValue>) => importSound({ m: { litellm_provider: 'openai', ...members } });
/** The prices of one model as genai-prices lists them. */
const genai = (prices: JsonValue) => importSound([{ id: 'openai', models: [{ id: 'm', prices }] }]);
const input = { input_cost_per_token: 0.000001 };

test('LiteLLM: prices above several lengths are ordered by length, and those of a service tier above one are not imported', () => {
  const above = { input_cost_per_token_above_272k_tokens: 3e-6, input_cost_per_token_above_128k_tokens: 2e-6 };
  assert.deepEqual(
    lite({ ...input, ...above }).entries[0]?.tiers?.map(({ inputAbove, prices }) => [inputAbove, prices.input]),
    [
      [0, '1'],
      [128_000, '2'],
      [272_000, '3'],
    ],
  );
  const priority = lite({ ...input, input_cost_per_token_above_200k_tokens_priority: 4e-6 });
  assert.equal(priority.entries[0]?.tiers?.length, 1);
  assert.deepEqual(priority.notCarried, ['m: input_cost_per_token_above_200k_tokens_priority']);
});

test('LiteLLM: speech and images have their own prices; a second of output without tokens may be anything', () => {
  const media = { output_cost_per_second: 0.0001, output_cost_per_image: 0.04 };
  const { entries } = lite({ ...input, ...media });
  assert.deepEqual(entries[0]?.media, { outputAudioMinute: '0.006', outputImage: '0.04' });
  const alone = lite(media);
  assert.deepEqual(alone.entries[0]?.media, { outputImage: '0.04' });
  assert.deepEqual(alone.notCarried, ['m: output_cost_per_second']);
});

test('LiteLLM: a service tier is a multiplier if input and output have the same ratio, both written as numbers', () => {
  const base = { input_cost_per_token: 2e-6, output_cost_per_token: 4e-6 };
  const batch = { input_cost_per_token_batches: 1e-6, output_cost_per_token_batches: 2e-6 };
  assert.deepEqual(lite({ ...base, ...batch }).entries[0]?.serviceTiers, { batch: '0.5' });
  for (const odd of [
    { ...base, input_cost_per_token_batches: '0.000001', output_cost_per_token_batches: '0.000002' },
    { input_cost_per_token: '0.000002', output_cost_per_token: '0.000004', ...batch },
    { input_cost_per_token: 0, output_cost_per_token: 0, ...batch },
  ])
    assert.equal(lite(odd).entries[0]?.serviceTiers, undefined, JSON.stringify(odd));
});

test('LiteLLM: a value that is not a price is listed and not imported, and a model without any price is listed once', () => {
  const odd = lite({ ...input, cache_read_input_token_cost: 'n/a', output_cost_per_token: -1, input_cost_per_image_token: [5] });
  assert.deepEqual(odd.entries[0]?.tiers, [{ inputAbove: 0, prices: { output: '0', input: '1' } }]);
  assert.deepEqual(odd.notCarried, ['m: cache_read_input_token_cost, output_cost_per_token, input_cost_per_image_token']);
  const nothing = { m: { litellm_provider: 'openai', ocr_cost_per_page: 1 } };
  assert.deepEqual(importPrices(nothing, 'litellm', importOptions).notCarried, ['m: it has no known price.']);
});

test('genai-prices: each price has tiers of its own, in any order; without tiers the base price is valid at every length', () => {
  const tier = (start: JsonValue, price: number) => ({ start, price });
  const { entries } = genai({
    input_mtok: { base: 1, tiers: [tier(100, 2), tier(300, 3), tier('400', 9), 5] },
    output_mtok: { base: 10, tiers: [tier(200, 20)] },
    cache_read_mtok: { base: 0.1 },
  });
  assert.deepEqual(
    entries[0]?.tiers?.map(({ inputAbove, prices }) => [inputAbove, prices.input, prices.output, prices.cacheRead]),
    [
      [0, '1', '10', '0.1'],
      [100, '2', '10', '0.1'],
      [200, '2', '20', '0.1'],
      [300, '3', '20', '0.1'],
    ],
  );
  assert.deepEqual(genai({ input_mtok: 1 }).entries[0]?.tiers, [{ inputAbove: 0, prices: { output: '0', input: '1' } }]);
});

test('genai-prices: a set without a date is valid from the given day, unless others begin before it', () => {
  const set = (price: number, from?: string) => ({
    prices: { input_mtok: price },
    ...(from === undefined ? {} : { constraint: { start_date: from } }),
  });
  const windows = (prices: JsonValue) => genai(prices).entries.map(({ effectiveFrom }) => effectiveFrom);
  assert.deepEqual(windows([set(1)]), ['2026-02-03']);
  assert.deepEqual(windows([set(1), set(2, '2026-05-01')]), ['2026-02-03', '2026-05-01']);
  assert.deepEqual(windows([set(1), set(2, '2026-01-01')]), ['2020-01-01', '2026-01-01']);
});

test('genai-prices: invalid providers, models and prices are skipped, and members that cannot be imported are listed', () => {
  const models: JsonValue = ['m', { id: 'a', prices: 5 }, { id: 'b', prices: [5, {}, { prices: { input_mtok: 1 } }] }];
  const { entries } = importSound([5, { id: 'openai' }, { id: 'openai', models }]);
  assert.deepEqual(
    entries.map(({ model }) => model),
    ['b'],
  );
  assert.deepEqual(genai({ input_mtok: 1, odd: 1, even: 2 }).notCarried, ['openai/m: odd, even']);
});

test('new-api: ratios may be numbers or texts of digits', () => {
  const { entries, notCarried } = importSound({ model_ratio: { text: '1.5', list: [5], flag: true } });
  assert.deepEqual(
    entries.map(({ model, tiers }) => [model, tiers?.[0]?.prices.input]),
    [['text', '3']],
  );
  assert.deepEqual(notCarried, ['list: its ratio is not a number.', 'flag: its ratio is not a number.']);
});
