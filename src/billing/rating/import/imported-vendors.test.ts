import assert from 'node:assert/strict';
import { test } from 'node:test';

import { importOptions, importSound } from './testing/import-kit.ts';
import { importPrices } from './import-prices.ts';

test('providers of LiteLLM and genai-prices are mapped to our vendors by their names', () => {
  const lite = { openai: 'openai', anthropic: 'anthropic', gemini: 'gemini', xai: 'xai', 'text-completion-openai': 'openai' };
  for (const [provider, vendor] of Object.entries(lite))
    assert.equal(importSound({ m: { litellm_provider: provider, input_cost_per_token: 1 } }).entries[0]?.vendor, vendor);
  for (const [id, vendor] of Object.entries({ openai: 'openai', anthropic: 'anthropic', google: 'gemini', 'x-ai': 'xai' }))
    assert.equal(importSound([{ id, models: [{ id: 'm', prices: { input_mtok: 1 } }] }]).entries[0]?.vendor, vendor);
});

test('the vendors of a list without vendors follow from the beginnings of its model names', () => {
  for (const [model, vendor] of [
    ['claude-x', 'anthropic'],
    ['chatgpt-4o-latest', 'openai'],
    ['o3-mini', 'openai'],
    ['text-embedding-3', 'openai'],
    ['gemini-3', 'gemini'],
    ['imagen-4', 'gemini'],
    ['grok-4', 'xai'],
    ['olmo-2', 'openai-compatible'],
    ['my-claude', 'openai-compatible'],
    ['my-gpt-5', 'openai-compatible'],
    ['my-gemini', 'openai-compatible'],
    ['my-grok', 'openai-compatible'],
  ] as const)
    assert.equal(importSound({ model_price: { [model]: 1 } }).entries[0]?.vendor, vendor, model);
});

test('LiteLLM: a model that is listed twice is imported once, and the same name of another vendor is another model', () => {
  const priced = (litellm_provider: string, input_cost_per_token: number) => ({ litellm_provider, input_cost_per_token });
  const file = { 'xai/m': priced('xai', 1), m: priced('xai', 2), 'openai/m': priced('openai', 3), n: priced('openai', 4) };
  assert.deepEqual(
    importSound(file).entries.map(({ vendor, model, tiers }) => `${vendor}/${model} ${tiers?.[0]?.prices.input}`),
    ['xai/m 1000000', 'openai/m 3000000', 'openai/n 4000000'],
  );
});

test('a provider without a name is named as such, and its models need one to be imported', () => {
  const unnamed = ['provider : 1 models; name a vendor to import them.'];
  assert.deepEqual(importPrices([{ models: [{ id: 'm' }] }], 'genai-prices', importOptions).notCarried, unnamed);
  assert.deepEqual(importPrices({ m: { litellm_provider: 5 } }, 'litellm', importOptions).notCarried, unnamed);
});
