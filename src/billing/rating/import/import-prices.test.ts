import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { importOptions as options, importSound as read } from './testing/import-kit.ts';
import { detectFormat, importPrices } from './import-prices.ts';

describe('LiteLLM', () => {
  const file = {
    sample_spec: { litellm_provider: 'one of them', input_cost_per_token: 0 },
    'gpt-x': {
      litellm_provider: 'openai',
      max_tokens: 5,
      input_cost_per_token: 2.5e-6,
      output_cost_per_token: 0.00001,
      cache_read_input_token_cost: 1.25e-7,
      input_cost_per_token_above_200k_tokens: 5e-6,
      output_cost_per_token_above_200k_tokens: 0.000015,
      input_cost_per_token_flex: 1.25e-6,
      output_cost_per_token_flex: 5e-6,
      input_cost_per_token_priority: 5e-6,
      output_cost_per_token_priority: 0.00003,
      search_context_cost_per_query: { search_context_size_medium: 0.01 },
      vector_store_cost_per_gb_per_day: 0.1,
      output_cost_per_video_per_second: 0,
    },
    'gemini/g-x': {
      litellm_provider: 'gemini',
      input_cost_per_token: 1e-7,
      output_cost_per_token: 4e-7,
      output_cost_per_reasoning_token: 3e-6,
    },
    'gemini-g-x': { litellm_provider: 'vertex_ai', input_cost_per_token: 1 },
    'speak-1': { litellm_provider: 'openai', input_cost_per_character: 0.000015 },
    'hear-1': { litellm_provider: 'openai', input_cost_per_second: 0.0001, output_cost_per_second: 0 },
    'free-1': { litellm_provider: 'openai', mode: 'moderation' },
  };

  test('prices per token become prices per million exactly, with tiers, service tiers, searches and media', () => {
    const { entries, notCarried, format } = read(file);
    assert.equal(format, 'litellm');
    assert.deepEqual(
      entries.map(({ vendor, model, effectiveFrom, tiers, serviceTiers, fees, media }) => ({
        vendor,
        model,
        effectiveFrom,
        tiers,
        serviceTiers,
        fees,
        media,
      })),
      [
        {
          vendor: 'openai',
          model: 'gpt-x',
          effectiveFrom: '2026-02-03',
          tiers: [
            { inputAbove: 0, prices: { input: '2.5', output: '10', cacheRead: '0.125' } },
            { inputAbove: 200_000, prices: { input: '5', output: '15', cacheRead: '0.125' } },
          ],
          serviceTiers: { flex: '0.5' },
          fees: { web_search: '0.01' },
          media: undefined,
        },
        {
          vendor: 'gemini',
          model: 'g-x',
          effectiveFrom: '2026-02-03',
          tiers: [{ inputAbove: 0, prices: { input: '0.1', output: '0.4', reasoning: '3' } }],
          serviceTiers: undefined,
          fees: undefined,
          media: undefined,
        },
        {
          vendor: 'openai',
          model: 'speak-1',
          effectiveFrom: '2026-02-03',
          tiers: undefined,
          serviceTiers: undefined,
          fees: undefined,
          media: { characters: '15' },
        },
        {
          vendor: 'openai',
          model: 'hear-1',
          effectiveFrom: '2026-02-03',
          tiers: undefined,
          serviceTiers: undefined,
          fees: undefined,
          media: { audioMinute: '0.006' },
        },
      ],
    );
    assert.deepEqual(notCarried, [
      'gpt-x: input_cost_per_token_priority, output_cost_per_token_priority, vector_store_cost_per_gb_per_day',
      'free-1: it has no known price.',
      'provider vertex_ai: 1 models; name a vendor to import them.',
    ]);
  });

  test('with a vendor every model is imported for it', () => {
    assert.ok(
      read(file, { vendor: 'openai-compatible' }).entries.some(
        ({ vendor, model }) => vendor === 'openai-compatible' && model === 'gemini-g-x',
      ),
    );
  });
});

test('genai-prices: providers, tiers, windows by date and prices per call', () => {
  const file = [
    {
      id: 'anthropic',
      models: [
        {
          id: 'c-1',
          name: 'C 1',
          prices_checked: '2026-07-29',
          prices: {
            input_mtok: { base: 3, tiers: [{ start: 200000, price: 6 }] },
            output_mtok: { base: 15, tiers: [{ start: 200000, price: 22.5 }] },
            cache_write_mtok: 3.75,
            requests_kcount: 10,
            odd: 1,
          },
        },
        {
          id: 'c-2',
          prices: [
            { prices: { input_mtok: 1, output_mtok: 2 } },
            { constraint: { start_date: '2026-01-01' }, prices: { input_mtok: 3, output_mtok: 4 } },
            { constraint: { start_time: '00:30:00Z' }, prices: { input_mtok: 5 } },
          ],
        },
        { id: 'c-3', prices: {} },
      ],
    },
    { id: 'elsewhere', models: [{ id: 'x', prices: { input_mtok: 1 } }] },
  ];
  const { entries, notCarried } = read(file);
  assert.deepEqual(
    entries.map(({ model, displayName, effectiveFrom, checked, tiers, fees }) => [model, displayName, effectiveFrom, checked, tiers, fees]),
    [
      [
        'c-1',
        'C 1',
        '2026-02-03',
        '2026-07-29',
        [
          { inputAbove: 0, prices: { output: '15', input: '3', cacheWrite5m: '3.75' } },
          { inputAbove: 200_000, prices: { output: '22.5', input: '6', cacheWrite5m: '3.75' } },
        ],
        { call: '0.01' },
      ],
      ['c-2', 'c-2', '2020-01-01', '2026-11-22', [{ inputAbove: 0, prices: { output: '2', input: '1' } }], undefined],
      ['c-2', 'c-2', '2026-01-01', '2026-11-22', [{ inputAbove: 0, prices: { output: '4', input: '3' } }], undefined],
    ],
  );
  assert.deepEqual(notCarried, [
    'anthropic/c-1: odd',
    'anthropic/c-2: prices with a condition other than a date.',
    'anthropic/c-3: it has no input price.',
    'provider elsewhere: 1 models; name a vendor to import them.',
  ]);
});

test('new-api: ratios of two dollars, and prices per call', () => {
  const file = {
    success: true,
    data: {
      model_ratio: { 'claude-x': 1.5, 'gpt-x': 0.625, strange: null },
      completion_ratio: { 'claude-x': 5 },
      cache_ratio: { 'claude-x': 0.1 },
      create_cache_ratio: { 'claude-x': 1.25 },
      model_price: { 'grok-draw': 0.07, 'gpt-x': 0.5 },
      group_ratio: { vip: 0.5 },
    },
  };
  const { entries, notCarried } = read(file);
  assert.deepEqual(
    entries.map(({ vendor, model, tiers, fees }) => [vendor, model, tiers?.[0]?.prices, fees]),
    [
      ['anthropic', 'claude-x', { input: '3', output: '15', cacheRead: '0.3', cacheWrite5m: '3.75' }, undefined],
      ['openai', 'gpt-x', undefined, { call: '0.5' }],
      ['xai', 'grok-draw', undefined, { call: '0.07' }],
    ],
  );
  assert.deepEqual(notCarried, ['group_ratio: it cannot be imported.', 'strange: its ratio is not a number.']);
  assert.deepEqual(
    read({ model_ratio: { mine: 2 } }).entries.map(({ vendor, tiers }) => [vendor, tiers?.[0]?.prices]),
    [['openai-compatible', { input: '4', output: '4' }]],
  );
});

test('a file in none of these formats is not imported', () => {
  for (const file of [[], {}, 'text', 5, null, [{ id: 'x' }], { data: {} }, { model: { price: 1 } }])
    assert.equal(detectFormat(file), undefined);
  for (const format of ['litellm', 'genai-prices', 'new-api'] as const)
    for (const file of ['text', [5], { a: 5 }]) assert.deepEqual(importPrices(file, format, options).book.entries, []);
});
