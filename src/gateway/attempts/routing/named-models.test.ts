import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { CallFacts } from '../../../inference/call-facts.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { createFakeUpstream } from '../exchange/testing/fake-exchange.ts';
import { alwaysHealthy } from '../health/health.ts';
import { rankTargets } from './rank-targets.ts';
import { createRoutingTable, type RoutingTable } from './routing-table.ts';
import type { Target, Upstream } from './target.ts';

const priceBook = createPriceBook({ book: loadShippedPriceBook() });
const upstream = (id: string, vendor: VendorId, dialects?: readonly DialectId[]): Upstream => {
  const made = createFakeUpstream({ vendor }, { send: () => {}, close: () => Promise.resolve() });
  return { ...made, id, dialects: dialects ?? made.vendor.dialects };
};
const anthropic = upstream('claude', 'anthropic');
const openai = upstream('gpt', 'openai');
const gemini = upstream('google', 'gemini');
const local = upstream('local', 'openai-compatible', ['openai-chat', 'anthropic-messages']);
const target = (chosen: Upstream, upstreamModel: string) => ({ upstream: chosen, upstreamModel });

const table = createRoutingTable({
  upstreams: [anthropic, openai, gemini, local],
  models: [
    { name: 'fast', targets: [target(openai, 'gpt-5-mini'), target(anthropic, 'claude-haiku-4-5')] },
    { name: 'house', targets: [target(local, 'qwen'), target(anthropic, 'claude-sonnet-4-5')] },
    { name: 'gpt-4.1', targets: [target(local, 'not-the-listed-one')] },
    { name: 'models/odd', targets: [target(gemini, 'odd')] },
  ],
  priceBook,
  configuredAtMs: 5,
});

function rank(from: RoutingTable, model: string, dialect: DialectId, needs: CallFacts['needs'] = []): readonly Target[] {
  return rankTargets({
    table: from,
    dialect: chatDialects[dialect],
    facts: { requestedModel: model, stream: false, inputCharacters: 0, needs },
    request: { operation: 'generate', body: {}, headers: {} },
    caller: { userId: 'user' },
    health: alwaysHealthy,
    nowMs: 0,
    random: () => 0.5,
  });
}

function choose(model: string, dialect: DialectId, needs: CallFacts['needs'] = []): string {
  const [chosen] = rank(table, model, dialect, needs);
  return `${chosen?.upstream.id}/${chosen?.upstreamModel}`;
}

test('an alias goes to its first target that speaks the interface', () => {
  assert.equal(choose('fast', 'openai-chat'), 'gpt/gpt-5-mini');
  assert.equal(choose('fast', 'openai-responses'), 'gpt/gpt-5-mini');
  assert.equal(choose('fast', 'anthropic-messages'), 'claude/claude-haiku-4-5');
  assert.equal(choose('house', 'anthropic-messages'), 'local/qwen');
});

test('a model that is not configured goes where the price book lists it, also with a date, under its own name', () => {
  assert.equal(choose('claude-sonnet-4-5', 'anthropic-messages'), 'claude/claude-sonnet-4-5');
  assert.equal(choose('claude-sonnet-4-5-20250929', 'anthropic-messages'), 'claude/claude-sonnet-4-5-20250929');
  assert.equal(choose('gpt-5-mini', 'openai-chat'), 'gpt/gpt-5-mini');
  assert.equal(choose('gemini-2.5-flash', 'gemini-generate-content'), 'google/gemini-2.5-flash');
});

test('`models/` before a name means nothing, unless a configured name has it', () => {
  assert.equal(choose('models/gemini-2.5-flash', 'gemini-generate-content'), 'google/gemini-2.5-flash');
  assert.equal(choose('models/fast', 'openai-chat'), 'gpt/gpt-5-mini');
  assert.equal(choose('models/odd', 'gemini-generate-content'), 'google/odd');
});

test('the other targets follow as fallbacks: those that speak the interface first, then the rest, each in its order', () => {
  const names = rank(table, 'house', 'gemini-generate-content').map(({ upstream: { id } }) => id);
  assert.deepEqual(names, ['local', 'claude']);
  assert.deepEqual(
    rank(table, 'fast', 'anthropic-messages').map(({ upstream: { id } }) => id),
    ['claude', 'gpt'],
  );
});

test('a configured name beats the list', () => assert.equal(choose('gpt-4.1', 'openai-chat'), 'local/not-the-listed-one'));

test('an entry that ends in * matches every name with its beginning: the longest one wins, and exact names win over it', () => {
  const wild = createRoutingTable({
    upstreams: [anthropic, local],
    models: [
      { name: '*', targets: [target(local, 'anything')] },
      { name: 'claude-*', targets: [target(local, 'claude-*')] },
      { name: 'claude-opus*', targets: [target(local, 'big')] },
      { name: 'claude-opus-4-6', targets: [target(anthropic, 'claude-opus-4-6')] },
    ],
    priceBook,
    configuredAtMs: 0,
  });
  const found = (name: string): string[] => wild.targetsOf(name).map(({ upstream: { id }, upstreamModel }) => `${id}/${upstreamModel}`);
  assert.deepEqual(
    found('claude-sonnet-4-5'),
    ['local/claude-sonnet-4-5'],
    'also before the price book, under the name that was asked for',
  );
  assert.deepEqual(found('claude-opus-9'), ['local/big']);
  assert.deepEqual(found('claude-opus-4-6'), ['claude/claude-opus-4-6']);
  assert.deepEqual(found('whatever'), ['local/anything']);
  assert.ok(
    wild.models.every(({ id }) => !id.endsWith('*')),
    'a pattern is no model and is not listed',
  );
});

test('an unknown model is a 404 that names the list, and does not repeat a very long name', () => {
  for (const model of ['nobody', '', 'constructor', '__proto__', 'models/', 'x'.repeat(5000)]) {
    assert.throws(
      () => choose(model, 'openai-chat'),
      (error: Error & { code?: string; status?: number; param?: string }) => {
        assert.deepEqual([error.code, error.status, error.param], ['model_not_found', 404, 'model']);
        assert.match(error.message, /GET \/v1\/models/);
        return error.message.length < 400;
      },
    );
  }
});

test('a model whose upstreams speak other interfaces is translated, at its first target', () => {
  assert.equal(choose('claude-sonnet-4-5', 'openai-chat'), 'claude/claude-sonnet-4-5');
  assert.equal(choose('fast', 'gemini-generate-content'), 'gpt/gpt-5-mini');
});

test('a thread goes to a target that stores threads, or is refused: its history must not be lost', () => {
  assert.equal(choose('house', 'anthropic-messages', ['threads']), 'claude/claude-sonnet-4-5');
  const only = createRoutingTable({
    upstreams: [local],
    models: [{ name: 'm', targets: [target(local, 'm')] }],
    priceBook,
    configuredAtMs: 0,
  });
  assert.throws(() => rank(only, 'm', 'anthropic-messages', ['threads']), {
    code: 'thread_unsupported',
    status: 400,
    param: 'thread',
    details: { error_code: 'thread_unsupported_request', unsupported: ['thread'] },
  });
});

test('of two upstreams of one vendor the first of the configuration is the first choice', () => {
  const second = { ...anthropic, id: 'claude-2' };
  const both = createRoutingTable({ upstreams: [anthropic, second], models: [], priceBook, configuredAtMs: 0 });
  assert.deepEqual(
    both.targetsOf('claude-sonnet-4-5').map((found) => found.upstream.id),
    ['claude', 'claude-2'],
  );
  const ids = both.models.map(({ id }) => id);
  assert.equal(new Set(ids).size, ids.length, 'and its models are listed once');
});

test('the list has the configured models first, each name once, and none of vendors that are not configured', () => {
  const ids = table.models.map(({ id }) => id);
  assert.deepEqual(ids.slice(0, 4), ['fast', 'house', 'gpt-4.1', 'models/odd']);
  assert.equal(new Set(ids).size, ids.length);
  assert.deepEqual([...new Set(table.models.map(({ ownedBy }) => ownedBy))].toSorted(), [
    'anthropic',
    'gemini',
    'openai',
    'openai-compatible',
  ]);
  assert.deepEqual(table.models[0], { id: 'fast', displayName: 'fast', createdAtMs: 5, ownedBy: 'openai' });
});

test('everything listed can be called', () => {
  for (const { id } of table.models) assert.ok(table.targetsOf(id).length > 0, id);
});
