import assert from 'node:assert/strict';
import { test } from 'node:test';

import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { createUpstreamClient } from '../../platform/http/upstream-client.ts';
import { buildSettings, type UpstreamSource } from '../config/build-settings.ts';
import type { Config } from '../config/config-schema.ts';
import { chooseModel } from './choose-model.ts';
import { listPictureModels } from './list-picture-models.ts';

const nowMs = Date.parse('2026-11-21T00:00:00Z');

function settingsOf(config: Config, upstreams: UpstreamSource['upstreams']) {
  const source: UpstreamSource = { type: 'file', upstreams };
  const settings = buildSettings({
    config,
    source,
    priceBookData: loadShippedPriceBook(),
    configuredAtMs: nowMs,
    pools: (origin) => createUpstreamClient({ origin, connectTimeoutMs: 1000, headerBytesMax: 1024 }),
  });
  return { config, source, settings };
}

function upstreamOf(config: Config, upstreams: UpstreamSource['upstreams']) {
  const [upstream] = settingsOf(config, upstreams).settings.routing.upstreams;
  assert.ok(upstream !== undefined);
  return upstream;
}

function choose(config: Config, upstreams: UpstreamSource['upstreams'], listed: readonly string[]): string | undefined {
  return chooseModel(upstreamOf(config, upstreams), settingsOf(config, upstreams), listed, nowMs);
}

const local = { local: { vendor: 'openai-compatible', baseUrl: 'http://127.0.0.1:1/v1' } } as const;
const anthropic = { anthropic: { vendor: 'anthropic', apiKey: 'k' } } as const;

test('the first model that the configuration sends there is chosen, by its name there', () => {
  const models = {
    'claude-*': { targets: [{ upstream: 'local' }] },
    fast: { targets: [{ upstream: 'other' }, { upstream: 'local', model: 'qwen3:8b' }] },
  };
  assert.equal(choose({ models }, local, ['first']), 'qwen3:8b');
});

test('else the cheapest listed model of the price book is chosen, or of the whole book if none is listed', () => {
  assert.match(choose({}, anthropic, []) ?? '', /haiku/);
  assert.equal(choose({}, anthropic, ['claude-opus-4-5', 'claude-sonnet-4-5', 'unheard-of']), 'claude-sonnet-4-5');
});

test('else the first listed model is chosen, else none', () => {
  assert.equal(choose({}, local, ['first', 'second']), 'first');
  assert.equal(choose({}, local, []), undefined);
});

test('an embeddings model is never chosen for text, however cheap it is', () => {
  const openai = { openai: { vendor: 'openai', apiKey: 'k' } } as const;
  const embeddings = 'text-embedding-3-small';
  assert.equal(choose({}, openai, [embeddings, 'gpt-4.1']), 'gpt-4.1');
  assert.equal(choose({ models: { words: { targets: [{ upstream: 'openai', model: embeddings }] } } }, openai, ['gpt-4.1']), 'gpt-4.1');
  assert.notEqual(choose({}, openai, []), embeddings);
  assert.equal(choose({}, openai, [embeddings, 'unheard-of']), 'unheard-of');
});

test('an image model is never asked for text, and the doctor reports it without making an image', () => {
  const openai = { openai: { vendor: 'openai', apiKey: 'k' } } as const;
  const picture = { targets: [{ upstream: 'openai', model: 'gpt-image-1.5' }] };
  const models = { picture, words: { targets: [{ upstream: 'openai', model: 'gpt-4.1' }] } };
  assert.equal(choose({ models }, openai, []), 'gpt-4.1');
  assert.equal(choose({}, openai, ['gpt-image-1.5', 'unheard-of']), 'unheard-of');
  const own = { painter: { kind: 'image' as const, targets: [{ upstream: 'local' }] } };
  assert.equal(choose({ models: own }, local, []), undefined);
  const verdicts = (config: Config, listed: readonly string[], upstreams: UpstreamSource['upstreams'] = openai) =>
    listPictureModels(upstreamOf(config, upstreams), { config }, listed).map(({ verdict, says }) => `${verdict} ${says.slice(0, 24)}`);
  assert.deepEqual(verdicts({ models }, ['gpt-image-1.5']), ['good gpt-image-1.5 is listed;']);
  assert.deepEqual(verdicts({ models }, ['gpt-4.1']), ['warning gpt-image-1.5 makes imag']);
  assert.deepEqual(verdicts({ models: own }, [], local), ['good painter; not tried, beca']);
});
