import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { createFakeUpstream } from '../exchange/testing/fake-exchange.ts';
import { createRoutingTable } from './routing-table.ts';
import type { Upstream } from './target.ts';

const upstream = (id: string, vendor: VendorId): Upstream => ({
  ...createFakeUpstream({ vendor }, { send: () => {}, close: () => Promise.resolve() }),
  id,
});
const local = upstream('local', 'openai-compatible');
const other = upstream('other', 'openai-compatible');
const table = createRoutingTable({
  upstreams: [upstream('gpt', 'openai'), local, other],
  models: [{ name: 'mine', targets: [{ upstream: other, upstreamModel: 'theirs' }] }],
  priceBook: createPriceBook({ book: loadShippedPriceBook() }),
  configuredAtMs: 5,
});
const withModels = (...names: readonly string[]) =>
  table.withDiscovered(new Map([['local', names.map((name) => ({ name, createdAtMs: 7 }))]]));
const whereTo = (made: typeof table, model: string): readonly string[] =>
  made.targetsOf(model).map((target) => `${target.upstream.id}/${target.upstreamModel}`);

test('a name is looked up once, and very long or very many names are not remembered', () => {
  const wild = createRoutingTable({
    upstreams: [other],
    models: [{ name: '*', targets: [{ upstream: other, upstreamModel: '*' }] }],
    priceBook: createPriceBook({ book: loadShippedPriceBook() }),
    configuredAtMs: 0,
  });
  assert.equal(wild.routeOf('m'), wild.routeOf('m'));
  const endless = 'x'.repeat(10_000);
  assert.notEqual(wild.routeOf(endless), wild.routeOf(endless));
  const first = wild.routeOf('m');
  for (let index = 0; index < 1000; index++) assert.deepEqual(whereTo(wild, `m${index}`), [`other/m${index}`]);
  assert.notEqual(wild.routeOf('m'), first, 'it has made room for others');
  assert.deepEqual(whereTo(wild, 'm'), ['other/m']);
});

describe('discovered models are added', () => {
  test('they can be called by their own names, and are listed', () => {
    const found = withModels('qwen3:8b', 'org/model');
    assert.deepEqual(whereTo(found, 'qwen3:8b'), ['local/qwen3:8b']);
    assert.deepEqual(whereTo(found, 'org/model'), ['local/org/model']);
    assert.deepEqual(found.models.at(-1), { id: 'org/model', displayName: 'org/model', createdAtMs: 7, ownedBy: 'openai-compatible' });
  });

  test('no server takes a name from the configuration or the price book, whatever it calls its models', () => {
    const found = withModels('mine', 'gpt-5-mini', 'gpt-5-mini-2025-08-07');
    assert.deepEqual(whereTo(found, 'mine'), ['other/theirs']);
    assert.deepEqual(whereTo(found, 'gpt-5-mini'), ['gpt/gpt-5-mini']);
    assert.deepEqual(whereTo(found, 'gpt-5-mini-2025-08-07'), ['gpt/gpt-5-mini-2025-08-07']);
    assert.equal(new Set(found.models.map(({ id }) => id)).size, found.models.length, 'and each name is listed once');
  });

  test('of two servers the first of the configuration is the first choice', () => {
    const found = table.withDiscovered(
      new Map([
        ['other', [{ name: 'both' }]],
        ['local', [{ name: 'both' }]],
        ['gone', [{ name: 'nowhere' }]],
      ]),
    );
    assert.deepEqual(whereTo(found, 'both'), ['local/both', 'other/both']);
    assert.deepEqual(whereTo(found, 'nowhere'), []);
    assert.equal(
      found.models.find(({ id }) => id === 'both')?.createdAtMs,
      5,
      'without a date of its own it has that of the configuration',
    );
  });

  test('they make a new table, which replaces what was discovered before: the old table stays as it was', () => {
    const first = withModels('a');
    const second = first.withDiscovered(new Map([['local', [{ name: 'b' }]]]));
    assert.deepEqual([whereTo(first, 'a'), whereTo(first, 'b')], [['local/a'], []]);
    assert.deepEqual([whereTo(second, 'a'), whereTo(second, 'b')], [[], ['local/b']]);
    assert.deepEqual(whereTo(table, 'a'), []);
  });
});
