import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadShippedPriceBook } from '../rating/load-shipped-price-book.ts';
import { createPriceBook } from '../rating/price-book.ts';
import { CostReconciliation } from './cost-reconciliation.ts';
import { atMs, openAiPage, rowOf } from './testing/reconciliation-kit.ts';
import type { VendorCosts } from './vendor-costs.ts';
import { vendorExports } from './vendor-exports.ts';
import { ExportError, type VendorUsage } from './vendor-usage.ts';

const day = '2026-11-20';
const startMs = Date.parse(`${day}T00:00:00Z`);
const dayMs = 86_400_000;
const listPrices = createPriceBook({ book: loadShippedPriceBook() });

function costsOf(vendor: 'openai' | 'anthropic', content: unknown): VendorCosts {
  const read = vendorExports[vendor]?.readCosts(typeof content === 'string' ? content : JSON.stringify(content));
  assert.ok(read !== undefined, 'the file is an export of costs');
  return read;
}

const cost = (value: unknown, lineItem: string | null, more: object = {}) => ({
  object: 'organization.costs.result',
  amount: { value, currency: 'usd' },
  line_item: lineItem,
  project_id: null,
  api_key_id: null,
  quantity: null,
  ...more,
});

const anthropicCost = (amount: string, more: object = {}) => ({
  amount,
  currency: 'USD',
  cost_type: 'tokens',
  description: 'x',
  model: 'claude-haiku-4-5-20251001',
  token_type: 'output_tokens',
  service_tier: 'standard',
  context_window: '0-200k',
  inference_geo: null,
  workspace_id: null,
  ...more,
});
const anthropicPage = (...results: readonly object[]) => ({
  data: [{ starting_at: `${day}T00:00:00Z`, ending_at: '2026-11-21T00:00:00Z', results }],
  has_more: false,
  next_page: null,
});

/** Costs as lines: the item, in USD. */
const tell = ({ costs }: VendorCosts): readonly string[] =>
  costs.map(({ model, item, usd }) => `${model} ${item} ${Number(usd.numerator) / Number(usd.denominator)}`);

/** A row of a million tokens each way, for which a user with a factor of 2 was charged. */
const row = rowOf('req_1', {
  acceptedAtMs: atMs,
  usage: { inputTokens: 1_000_000, cacheReadTokens: 1_000_000, outputTokens: 1_000_000, reasoningTokens: 1000, webSearches: 3 },
  charge: { amountNanoUsd: 9_000_000_000n, lines: [] },
});

test('OpenAI: line items are split into model and class; amounts may be numbers or texts, and other names are kept', () => {
  const page = openAiPage(day, [
    cost(0.06, 'gpt-5-mini-2025-08-07, input'),
    cost('1.5e-3', 'gpt-5-mini-2025-08-07, cached input'),
    cost(-0.5, 'Promotional credit'),
    cost(2, 'web search tool calls'),
    cost(1, null, { novelty: 3 }),
  ]);
  const read = costsOf('openai', page);
  assert.deepEqual(tell(read), [
    'gpt-5-mini-2025-08-07 input 0.06',
    'gpt-5-mini-2025-08-07 cache_read 0.0015',
    '- Promotional credit -0.5',
    '- web_search 2',
    '- all 1',
  ]);
  assert.deepEqual([read.startMs, read.endMs, read.timeZone, read.unread], [startMs, startMs + dayMs, 'UTC', ['novelty']]);
  for (const wrong of [cost('a lot', 'x'), { ...cost(1, 'x'), amount: { value: 1, currency: 'eur' } }, cost(undefined, 'x')])
    assert.throws(() => costsOf('openai', openAiPage(day, [wrong])), ExportError);
});

test('Anthropic: amounts are cents, and costs of tools have no model', () => {
  const read = costsOf(
    'anthropic',
    anthropicPage(
      anthropicCost('123.45'),
      anthropicCost('10', { token_type: 'cache_creation.ephemeral_1h_input_tokens' }),
      anthropicCost('3', { cost_type: 'web_search', model: null, token_type: null }),
      anthropicCost('4', { cost_type: 'session_usage', model: null, token_type: null, description: 'Sessions' }),
    ),
  );
  assert.deepEqual(tell(read), [
    'claude-haiku-4-5-20251001 output 1.2345',
    'claude-haiku-4-5-20251001 cache_write_1h 0.1',
    '- web_search 0.03',
    '- Sessions 0.04',
  ]);
  assert.equal(vendorExports['anthropic']?.readCosts(JSON.stringify(anthropicPage({ model: 'm' }))), undefined, 'an export of usage');
});

test('the comparison has the costs of the vendor, the usage at list price by class, and the charges of users', () => {
  const items = [cost('0.25', 'gpt-5-mini-2025-08-07, input'), cost('2.5', 'gpt-5-mini-2025-08-07, output')];
  const reconciliation = new CostReconciliation(costsOf('openai', openAiPage(day, items)), { vendor: 'openai', listPrices });
  for (const each of [row, rowOf('req_2', { vendor: 'xai' }), rowOf('req_3', { toolUsage: { webSearches: 1 } })]) reconciliation.add(each);
  const list = listPrices.rate({ ...row, upstreamModel: 'gpt-5-mini' });
  const found = reconciliation
    .costs()
    .map(({ model, item, listNanoUsd, differenceNanoUsd }) => [model, item, listNanoUsd, differenceNanoUsd]);
  assert.deepEqual(found, [
    ['-', 'web_search', 30_000_000n, -30_000_000n],
    ['gpt-5-mini-2025-08-07', 'cache_read', 25_000_000n, -25_000_000n],
    ['gpt-5-mini-2025-08-07', 'input', 250_000_000n, 0n],
    ['gpt-5-mini-2025-08-07', 'output', 2_000_000_000n, 500_000_000n],
  ]);
  assert.equal(
    reconciliation.costs().reduce((sum, { listNanoUsd }) => sum + listNanoUsd, 0n),
    list.amountNanoUsd,
  );
  assert.deepEqual(reconciliation.charged(), [{ day, model: 'gpt-5-mini-2025-08-07', chargedNanoUsd: 9_000_000_000n }]);
});

test('an export without groups is compared by day; other upstreams and other days are omitted', () => {
  const theirs = costsOf('openai', [openAiPage(day, [cost(3, null)]), openAiPage('2026-11-21', [cost(1, null)])]);
  const reconciliation = new CostReconciliation(theirs, { vendor: 'openai', upstream: 'first', listPrices });
  for (const [index, upstream] of ['first', 'second'].entries()) reconciliation.add({ ...row, callId: `req_${index}`, upstream });
  const found = reconciliation.costs().map(({ day: on, model, item, differenceNanoUsd }) => [on, model, item, differenceNanoUsd]);
  const list = listPrices.rate(row).amountNanoUsd;
  assert.deepEqual(found, [
    [day, '-', 'all', 3_000_000_000n - list],
    ['2026-11-21', '-', 'all', 1_000_000_000n],
  ]);
});

const table = (...lines: readonly string[]): string => `\ufeff${lines.join('\r\n')}\r\n`;

test('tables of the consoles are read by the names of their columns, in any order and among others', () => {
  const anthropic = table(
    'workspace,usage_date_utc,model,token_type,cost_usd,list_price_usd,cost_type,usage_type',
    `Default,${day},Claude Haiku 4.5,input_no_cache,0.05,0.05,token,message`,
    `Default,${day},Claude Haiku 4.5,output,0.02,0.02,token,message`,
    `Default,2026-11-21,,,0.01,0.01,web_search,message`,
  );
  const read = costsOf('anthropic', anthropic);
  assert.deepEqual(tell(read), ['claude-haiku-4-5 input 0.05', 'claude-haiku-4-5 output 0.02', '- web_search 0.01']);
  assert.deepEqual([read.startMs, read.endMs], [startMs, startMs + 2 * dayMs]);
  const openAi = table(
    'start_time,end_time,amount_value,amount_currency,line_item',
    `${startMs / 1000},0,0.25,usd,"gpt-5-mini-2025-08-07, output"`,
  );
  assert.deepEqual(tell(costsOf('openai', openAi)), ['gpt-5-mini-2025-08-07 output 0.25']);
  const written = table('start_time,amount_value,amount_currency,line_item', `${day} 00:00:00,1,USD,`);
  assert.deepEqual([tell(costsOf('openai', written)), costsOf('openai', written).startMs], [['- all 1'], startMs]);
});

test('tables of usage give the same counts as the reports, and missing columns are named', () => {
  const usage = (vendor: string, text: string): VendorUsage => vendorExports[vendor]?.read(text) ?? assert.fail();
  const anthropic = table(
    'usage_date_utc,model_version,usage_input_tokens_no_cache,usage_input_tokens_cache_write_5m,usage_input_tokens_cache_write_1h,usage_input_tokens_cache_read,usage_output_tokens,web_search_count',
    `${day},claude-haiku-4-5-20251001,5,4,3,2,1,9`,
  );
  const counts = { input: 5, cache_read: 2, cache_write_5m: 4, cache_write_1h: 3, output: 1, web_searches: 9 };
  assert.deepEqual(usage('anthropic', anthropic).rows, [{ model: 'claude-haiku-4-5-20251001', startMs, counts }]);
  const openAi = table(
    'start_time,model,input_tokens,input_cached_tokens,output_tokens,num_model_requests',
    `${startMs / 1000},gpt-5-mini,10,4,3,2`,
  );
  assert.deepEqual(usage('openai', openAi).rows[0]?.counts, { input: 6, cache_read: 4, cache_write_5m: 0, output: 3, requests: 2 });
  assert.throws(
    () => usage('openai', table('start_time,model,cost', '1,2,3')),
    /as one of usage it lacks input_tokens, input_cached_tokens, output_tokens; as one of costs it lacks amount_value, amount_currency, line_item/,
  );
  assert.throws(() => usage('openai', openAi.replace(',10,', ',ten,')), /line 2: input_tokens is not a count/);
  assert.throws(() => usage('openai', openAi.replace(',10,', ',1,')), /less than the sum of its cached parts/);
  assert.throws(() => usage('openai', openAi.replace(String(startMs / 1000), 'soon')), /start_time is not a time/);
  assert.throws(() => usage('openai', openAi.replace('gpt-5-mini', '')), /the model is missing/);
  assert.throws(() => usage('anthropic', anthropic.replace(day, '2026-02-30')), /is not a day/);
});
