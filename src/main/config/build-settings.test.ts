import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { defaultLimits, defaultTimeouts } from '../../gateway/settings/limits.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import { upstreamVendors } from '../../upstreams/registry.ts';
import { buildSettings, findBrokenTargets, findModelLists, findUpstreams } from './build-settings.ts';
import type { Config } from './config-schema.ts';

const simulated = { 'simulated-openai': { vendor: 'openai', baseUrl: 'http://127.0.0.1:1/v1', apiKey: 'simulated' } } as const;
const environment = (variables: Readonly<Record<string, string>>) => (name: string) => variables[name];
const none = environment({});
const file: Config = { upstreams: { mine: { vendor: 'openai' } } };

describe('the source of upstreams', () => {
  test('the file takes precedence over the environment, and the environment over the simulator', () => {
    const keys = environment({ OPENAI_API_KEY: 'sk-o' });
    assert.equal(findUpstreams(file, keys, simulated)?.type, 'file');
    assert.deepEqual(Object.keys(findUpstreams(file, keys, simulated)?.upstreams ?? {}), ['mine']);
    assert.deepEqual(findUpstreams({}, keys, simulated), {
      type: 'environment',
      upstreams: { openai: { vendor: 'openai', apiKey: 'sk-o' } },
    });
    assert.deepEqual(findUpstreams({}, none, simulated), { type: 'simulated', upstreams: simulated });
    assert.equal(findUpstreams({}, none, undefined), undefined);
  });

  test('a file without upstreams is ignored', () => {
    assert.equal(findUpstreams({ upstreams: {} }, none, simulated)?.type, 'simulated');
    assert.equal(findUpstreams({ timeZone: 'UTC' }, none, undefined), undefined);
  });

  test('every vendor is found by its variables, and its first variable takes precedence', () => {
    const found = findUpstreams(
      {},
      environment({ ANTHROPIC_API_KEY: 'a', OPENAI_API_KEY: 'o', GOOGLE_API_KEY: 'second', GEMINI_API_KEY: 'first', XAI_API_KEY: 'x' }),
      undefined,
    );
    assert.deepEqual(
      Object.entries(found?.upstreams ?? {}).map(([id, { vendor, apiKey }]) => [id, vendor, apiKey]),
      [
        ['anthropic', 'anthropic', 'a'],
        ['openai', 'openai', 'o'],
        ['gemini', 'gemini', 'first'],
        ['xai', 'xai', 'x'],
      ],
    );
    assert.equal(findUpstreams({}, environment({ GOOGLE_API_KEY: 'second' }), undefined)?.upstreams['gemini']?.apiKey, 'second');
  });

  test('a target with an unknown upstream is reported, also if upstreams come from the environment', () => {
    const config: Config = { models: { fast: { targets: [{ upstream: 'openai' }, { upstream: 'opnai' }] } } };
    const source = findUpstreams(config, environment({ OPENAI_API_KEY: 'o', XAI_API_KEY: 'x' }), undefined);
    assert.ok(source);
    assert.deepEqual(findBrokenTargets(config, source), ['models.fast: there is no upstream "opnai"; there are: openai, xai']);
    assert.deepEqual(findBrokenTargets({}, source), []);
  });
});

describe('the settings of a configuration', () => {
  function build(config: Config) {
    const opened: [origin: string, connectMs: number][] = [];
    const client: UpstreamClient = { send: () => {}, close: () => Promise.resolve() };
    const source = findUpstreams(config, none, simulated);
    assert.ok(source);
    const settings = buildSettings({
      config,
      source,
      priceBookData: loadShippedPriceBook(),
      pools: (origin, connectMs) => {
        opened.push([origin, connectMs]);
        return client;
      },
      configuredAtMs: 5,
    });
    return { settings, opened };
  }
  const one = (configured: NonNullable<Config['upstreams']>[string]) => {
    const { settings, opened } = build({ upstreams: { one: configured } });
    const [upstream] = settings.routing.upstreams;
    assert.ok(upstream);
    return { upstream, opened };
  };

  test('an address is split into origin and path, and slashes at its end are removed', () => {
    for (const [baseUrl, origin, basePath] of [
      ['http://127.0.0.1:8000/v1', 'http://127.0.0.1:8000', '/v1'],
      ['http://127.0.0.1:8000/v1///', 'http://127.0.0.1:8000', '/v1'],
      ['http://127.0.0.1:8000', 'http://127.0.0.1:8000', ''],
      ['https://example.com:443/a/b/', 'https://example.com', '/a/b'],
      ['http://[::1]:9/v1', 'http://[::1]:9', '/v1'],
    ] as const) {
      const { upstream, opened } = one({ vendor: 'openai-compatible', baseUrl });
      assert.equal(upstream.basePath, basePath, baseUrl);
      assert.deepEqual(opened, [[origin, defaultTimeouts.connectMs]], baseUrl);
    }
  });

  test('the default address is that of the vendor, and there is no default key', () => {
    const { upstream, opened } = one({ vendor: 'openai' });
    assert.deepEqual([opened[0]?.[0], upstream.basePath], ['https://api.openai.com', '/v1']);
    assert.equal(upstream.apiKey, undefined);
    assert.deepEqual(upstream.dialects, ['openai-responses', 'openai-chat']);
    assert.equal(upstream.acceptsStreamOptions, true);
  });

  test('settings of the file take precedence over those of the vendor', () => {
    const { upstream } = one({
      vendor: 'openai-compatible',
      baseUrl: 'http://h:1/v1',
      apiKey: 'k',
      dialects: ['openai-chat', 'anthropic-messages'],
      forwardHeaders: ['x-my-*'],
      quirks: { streamOptions: false },
    });
    assert.deepEqual(upstream.dialects, ['openai-chat', 'anthropic-messages']);
    assert.equal(upstream.acceptsStreamOptions, false);
    assert.equal(upstream.apiKey, 'k');
    assert.deepEqual([upstream.passesRequestHeader('x-my-tenant'), upstream.passesRequestHeader('user-agent')], [true, true]);
    assert.equal(upstream.passesReplyHeader('x-my-tenant'), false);
  });

  test('traits of a model come from its quirks, then its preset, then its vendor', () => {
    const traits = (configured: NonNullable<Config['upstreams']>[string], model = 'm') => one(configured).upstream.traitsOf(model);
    const local = { vendor: 'openai-compatible', baseUrl: 'http://h:1/v1' } as const;
    assert.deepEqual(traits(local), upstreamVendors['openai-compatible'].traitsOf('m'));
    assert.deepEqual(
      [traits({ ...local, preset: 'vllm' }).fetchesUrls, traits({ ...local, preset: 'vllm' }).chat.acceptsTopK],
      [true, true],
    );
    const corrected = traits({ ...local, preset: 'vllm', quirks: { fetchesUrls: false, reasoningField: 'reasoning_effort' } });
    assert.deepEqual(
      [corrected.fetchesUrls, corrected.chat.reasoningField, corrected.chat.acceptsTopK, corrected.reasoning],
      [false, 'reasoning_effort', true, 'effort'],
    );
    const claude = traits({ vendor: 'anthropic', quirks: { outputTokensMax: 8000 } }, 'claude-opus-4-1');
    assert.deepEqual([claude.outputTokensMax, claude.reasoning], [8000, 'budget'], 'quirks override a vendor too');
    const { upstream: mistral } = one({ vendor: 'openai-compatible', preset: 'mistral' });
    assert.deepEqual([mistral.acceptsStreamOptions, mistral.takesOwnSpellings], [false, true]);
  });

  test('a preset of a service has an address, and the file may override it', () => {
    const openrouter = { vendor: 'openai-compatible', preset: 'openrouter' } as const;
    assert.deepEqual([one(openrouter).opened[0]?.[0], one(openrouter).upstream.basePath], ['https://openrouter.ai', '/api/v1']);
    assert.equal(one({ ...openrouter, baseUrl: 'http://proxy:1/x' }).opened[0]?.[0], 'http://proxy:1');
  });

  test('proofs belong to the vendor, or to one server if its maker is unknown; no upstream name is mistaken for a vendor', () => {
    const { settings } = build({
      upstreams: {
        'anthropic-eu': { vendor: 'anthropic' },
        'anthropic-us': { vendor: 'anthropic' },
        anthropic: { vendor: 'openai-compatible', baseUrl: 'http://h:1/v1' },
        openai: { vendor: 'openai-compatible', baseUrl: 'http://h:1/v1' },
      },
    });
    assert.deepEqual(
      settings.routing.upstreams.map(({ proofOrigin }) => proofOrigin),
      ['anthropic', 'anthropic', 'openai-compatible/anthropic', 'openai-compatible/openai'],
    );
  });

  test('a server lists its models unless the file names some, and discoverModels overrides this', () => {
    const local = { vendor: 'openai-compatible', baseUrl: 'http://h:1/v1/' } as const;
    const config: Config = {
      upstreams: {
        vendor: { vendor: 'openai', apiKey: 'k' },
        asked: { ...local, apiKey: 'k' },
        messages: { ...local, apiKey: 'k', dialects: ['anthropic-messages'] },
        keyless: local,
        named: local,
        both: { ...local, discoverModels: true },
        silent: { ...local, discoverModels: false },
      },
      models: { a: { targets: [{ upstream: 'named' }] }, b: { targets: [{ upstream: 'both' }, { upstream: 'vendor' }] } },
    };
    const source = findUpstreams(config, none, undefined);
    assert.ok(source);
    const url = 'http://h:1/v1/models';
    assert.deepEqual(findModelLists(config, source), [
      { upstreamId: 'asked', url, headers: { authorization: 'Bearer k' } },
      { upstreamId: 'messages', url, headers: { 'x-api-key': 'k' } },
      { upstreamId: 'keyless', url, headers: {} },
      { upstreamId: 'both', url, headers: {} },
    ]);
  });

  test('a model has the same name upstream unless the target names another, and each model has its own price', () => {
    const { settings } = build({
      upstreams: { local: { vendor: 'openai-compatible', baseUrl: 'http://h:1/v1' } },
      models: {
        same: { targets: [{ upstream: 'local' }], price: { input: '1', output: '2' } },
        other: { targets: [{ upstream: 'local', model: 'qwen3:8b' }] },
      },
    });
    assert.equal(settings.routing.targetsOf('same')[0]?.upstreamModel, 'same');
    assert.equal(settings.routing.targetsOf('other')[0]?.upstreamModel, 'qwen3:8b');
    const rate = (requestedModel: string) =>
      settings.routing.priceBook.rate({
        vendor: 'openai-compatible',
        upstreamModel: requestedModel,
        requestedModel,
        acceptedAtMs: Date.UTC(2026, 10, 20),
        usage: { inputTokens: 1_000_000, outputTokens: 1_000_000 },
      }).amountNanoUsd;
    assert.equal(rate('same'), 3_000_000_000n);
    assert.equal(rate('other'), 0n);
  });

  test('limits, timeouts and mode have defaults', () => {
    const { settings } = build({ limits: { replyBytesMax: 2048 }, timeouts: { idleMs: 10, connectMs: 20 }, validation: 'documented' });
    assert.deepEqual(settings.limits, { ...defaultLimits, replyBytesMax: 2048 });
    assert.equal(settings.timeouts.idleMs, 10);
    assert.equal(settings.timeouts.totalMs, defaultTimeouts.totalMs);
    assert.equal(settings.validation, 'documented');
    assert.equal(build({}).settings.validation, 'compatible');
    assert.equal(build({ timeouts: { connectMs: 20 } }).opened[0]?.[1], 20);
  });
});
