import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { loadShippedPriceBook } from '../../../billing/rating/load-shipped-price-book.ts';
import { createPriceBook } from '../../../billing/rating/price-book.ts';
import type { DialectId } from '../../../dialects/dialect-id.ts';
import type { VendorId } from '../../../upstreams/upstream-vendor.ts';
import { createFakeUpstream } from '../../attempts/exchange/testing/fake-exchange.ts';
import { createRoutingTable } from '../../attempts/routing/routing-table.ts';
import { listModels, showModel } from './models-endpoint.ts';

const everyModel = (): boolean => true;

const configuredAtMs = Date.UTC(2026, 10, 20);
const upstream = (vendor: VendorId) => {
  const fake = createFakeUpstream({ vendor }, { send: () => {}, close: () => Promise.resolve() });
  return { ...fake, id: vendor, dialects: fake.vendor.dialects };
};
const upstreams = [upstream('anthropic'), upstream('openai'), upstream('gemini')];
const [anthropic, , gemini] = upstreams;
assert.ok(anthropic && gemini);
const table = createRoutingTable({
  upstreams,
  models: [
    { name: 'fast', targets: [{ upstream: anthropic, upstreamModel: 'claude-haiku-4-5' }] },
    { name: 'both', targets: [anthropic, gemini].map((each) => ({ upstream: each, upstreamModel: 'm' })) },
  ],
  priceBook: createPriceBook({ book: loadShippedPriceBook() }),
  configuredAtMs,
});

type Page = Record<string, any>;
const list = (dialect: DialectId, query = ''): Page => listModels(table, dialect, new URLSearchParams(query), everyModel) as Page;
const ids = (page: Page): string[] => (page['data'] as { id: string }[]).map(({ id }) => id);
const names = (page: Page): string[] => (page['models'] as { name: string }[]).map(({ name }) => name);
const everything = table.models.map(({ id }) => id);

describe('as the OpenAI interfaces list models', () => {
  test('the OpenAI interfaces list all models on one page', () => {
    for (const dialect of ['openai-chat', 'openai-responses'] as const) {
      const page = list(dialect, 'limit=2&after=x');
      assert.equal(page['object'], 'list');
      assert.deepEqual(ids(page), everything);
      assert.deepEqual(page['data'][0], { id: 'fast', object: 'model', created: configuredAtMs / 1000, owned_by: 'anthropic' });
    }
  });
});

describe('as Messages lists models', () => {
  test('forward pages of Messages contain every model once, in order', () => {
    const seen: string[] = [];
    let query = 'limit=7';
    for (let pages = 0; pages < 100; pages++) {
      const page = list('anthropic-messages', query);
      seen.push(...ids(page));
      assert.equal(page['first_id'], ids(page)[0]);
      assert.equal(page['last_id'], ids(page).at(-1));
      if (page['has_more'] !== true) break;
      query = `limit=7&after_id=${String(page['last_id'])}`;
    }
    assert.deepEqual(seen, everything);
  });

  test('backward pages of Messages contain the same models', () => {
    const last = everything.at(-1) ?? '';
    const seen: string[] = [];
    let before = last;
    for (let pages = 0; pages < 100; pages++) {
      const page = list('anthropic-messages', `limit=7&before_id=${before}`);
      seen.unshift(...ids(page));
      if (page['has_more'] !== true) break;
      before = String(page['first_id']);
    }
    assert.deepEqual([...seen, last], everything);
  });

  test('an invalid page size becomes 20, and the page after the last is empty', () => {
    for (const limit of ['', 'limit=0', 'limit=-1', 'limit=x', 'limit=1.5'])
      assert.equal(ids(list('anthropic-messages', limit)).length, 20, limit);
    assert.equal(ids(list('anthropic-messages', 'limit=1000000')).length, everything.length);
    const end = list('anthropic-messages', `after_id=${everything.at(-1)}`);
    assert.deepEqual(end, { data: [], has_more: false, first_id: null, last_id: null });
    const [first] = list('anthropic-messages')['data'] as Page[];
    assert.deepEqual(first, { type: 'model', id: 'fast', display_name: 'fast', created_at: '2026-11-20T00:00:00Z' });
  });
});

describe('as generate-content lists models', () => {
  test('generate-content lists only models that it can call, with the names of its SDK', () => {
    const page = list('gemini-generate-content', 'pageSize=1000');
    assert.ok(names(page).includes('models/both'));
    assert.ok(names(page).includes('models/gemini-2.5-flash'));
    assert.ok(!names(page).includes('models/fast'));
    assert.doesNotMatch(names(page).join(), /claude|gpt/);
    for (const model of page['models'] as Page[]) assert.ok(model['supportedGenerationMethods'].includes('generateContent'));
  });

  test('pages of generate-content contain every model once', () => {
    const whole = names(list('gemini-generate-content', 'pageSize=1000'));
    for (const [size, token] of [
      ['pageSize', 'pageToken'],
      ['page_size', 'page_token'],
    ] as const) {
      const seen: string[] = [];
      let query = `${size}=3`;
      for (let pages = 0; pages < 100; pages++) {
        const page = list('gemini-generate-content', query);
        seen.push(...names(page));
        if (page['nextPageToken'] === undefined) break;
        query = `${size}=3&${token}=${String(page['nextPageToken'])}`;
      }
      assert.deepEqual(seen, whole);
    }
  });

  test('an invalid token starts at the beginning, and a token beyond the end is an empty page', () => {
    const first = names(list('gemini-generate-content', 'pageSize=2'));
    for (const token of ['x', '-3', '1.5', ''])
      assert.deepEqual(names(list('gemini-generate-content', `pageSize=2&pageToken=${token}`)), first);
    assert.deepEqual(list('gemini-generate-content', 'pageToken=100000'), { models: [] });
  });
});

describe('one model', () => {
  test('one model is shown in the format of each dialect', () => {
    assert.deepEqual(showModel(table, 'openai-chat', 'fast', 0, everyModel), {
      id: 'fast',
      object: 'model',
      created: configuredAtMs / 1000,
      owned_by: 'anthropic',
    });
    assert.equal((showModel(table, 'anthropic-messages', 'fast', 0, everyModel) as Page)['display_name'], 'fast');
    assert.equal((showModel(table, 'gemini-generate-content', 'both', 0, everyModel) as Page)['name'], 'models/both');
  });

  test('a dated name that a call would accept is found under that name', () => {
    const dated = showModel(table, 'openai-chat', 'claude-sonnet-4-5-20250929', 7000, everyModel) as Page;
    assert.deepEqual(dated, { id: 'claude-sonnet-4-5-20250929', object: 'model', created: 7, owned_by: 'anthropic' });
  });

  test('every listed model can be shown', () => {
    for (const id of everything) assert.ok(showModel(table, 'anthropic-messages', id, 0, everyModel), id);
  });

  test('a model that the caller may not call is treated as missing', () => {
    const mayCall = (model: string): boolean => model === 'fast';
    for (const dialect of ['openai-chat', 'anthropic-messages'] as const)
      assert.deepEqual(ids(listModels(table, dialect, new URLSearchParams(), mayCall) as Page), ['fast']);
    assert.deepEqual(names(listModels(table, 'gemini-generate-content', new URLSearchParams(), mayCall) as Page), []);
    const refusal = (name: string): unknown => {
      try {
        return showModel(table, 'openai-chat', name, 0, mayCall);
      } catch (error) {
        return error instanceof Error ? error.message.replace(name, '') : error;
      }
    };
    assert.equal(refusal('both'), refusal('nobody'));
    assert.ok(showModel(table, 'openai-chat', 'fast', 0, mayCall));
  });

  test('an unknown model is a 404', () => {
    for (const name of ['nobody', '', 'constructor'])
      assert.throws(() => showModel(table, 'openai-chat', name, 0, everyModel), { code: 'model_not_found', status: 404, param: 'model' });
  });
});
