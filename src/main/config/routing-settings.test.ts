import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { loadShippedPriceBook } from '../../billing/rating/load-shipped-price-book.ts';
import { describeModels } from '../commands/describe-models.ts';
import type { UpstreamClient } from '../../platform/http/upstream-client.ts';
import { buildSettings, findModelLists, findUpstreams } from './build-settings.ts';
import { readConfig } from './read-config.ts';

function build(text: string) {
  const config = readConfig({ text, file: 'weir.yaml', variable: () => undefined });
  const source = findUpstreams(config, () => undefined, undefined);
  assert.ok(source);
  const opened: UpstreamClient[] = [];
  const { routing } = buildSettings({
    config,
    source,
    priceBookData: loadShippedPriceBook(),
    configuredAtMs: 0,
    pools: () => {
      const client = { send: () => {}, close: () => Promise.resolve() };
      opened.push(client);
      return client;
    },
  });
  const describeAll = (): readonly string[] => describeModels(routing, config.models ?? {});
  return { config, source, routing, opened, describeAll };
}

const upstreams = `upstreams:
  a: { vendor: openai, apiKeys: [k1, k2] }
  b: { vendor: openai, baseUrl: "https://eu.api.openai.com/v1", apiKey: k3 }
  c: { vendor: anthropic }
`;

describe('several credentials', () => {
  test('become targets that share one weight and one pool of connections', () => {
    const { routing, opened } = build(
      `${upstreams}models: { m: { targets: [{ upstream: a, priority: 1, weight: 3 }, { upstream: b, priority: 1 }] } }`,
    );
    assert.deepEqual(
      routing.targetsOf('m').map(({ upstream, weight, priority }) => [upstream.id, upstream.apiKey, weight, priority]),
      [
        ['a', 'k1', 1.5, 1],
        ['a', 'k2', 1.5, 1],
        ['b', 'k3', 1, 1],
      ],
    );
    const [first, second] = routing.targetsOf('m');
    assert.equal(first?.upstream.client, second?.upstream.client);
    assert.equal(opened.length, 3);
  });

  test('share the calls of models that the configuration does not name', () => {
    const { routing } = build(upstreams);
    assert.deepEqual(
      routing.targetsOf('gpt-5-mini').map(({ upstream, priority }) => [upstream.apiKey, priority]),
      [
        ['k1', 1],
        ['k2', 1],
        ['k3', 2],
      ],
    );
  });

  test('have names that reveal nothing, are always the same and change with the key', () => {
    const names = (keys: string): readonly string[] =>
      build(`upstreams: { a: { vendor: openai, ${keys} } }`).routing.upstreams.map(({ credentialId }) => credentialId);
    const [first = '', second = ''] = names('apiKeys: [secret-one, secret-two]');
    assert.match(first, /^a#1~[0-9a-f]{6}$/);
    assert.match(second, /^a#2~[0-9a-f]{6}$/);
    assert.deepEqual(names('apiKeys: [secret-one, secret-two]'), [first, second]);
    assert.notEqual(names('apiKeys: [other, secret-two]')[0], first);
    assert.match(names('apiKey: secret-one')[0] ?? '', /^a~[0-9a-f]{6}$/);
    assert.match(names('apiKeys: [secret-one]')[0] ?? '', /^a~[0-9a-f]{6}$/);
    assert.deepEqual(names('forwardHeaders: []'), ['a'], 'without a credential, the name has no mark');
  });

  test('the first is used to request the models of a server', () => {
    const { config, source } = build('upstreams: { s: { vendor: openai-compatible, baseUrl: "http://h/v1", apiKeys: [k1, k2] } }');
    assert.deepEqual(findModelLists(config, source)[0]?.headers, { authorization: 'Bearer k1' });
  });
});

test('timeouts of a model and of its targets apply to these targets only', () => {
  const { routing } = build(`${upstreams}models:
  m: { timeouts: { idleMs: 5000, totalMs: 9000 }, targets: [{ upstream: b, model: gpt-5, timeouts: { totalMs: 7000 } }, { upstream: c, model: claude-opus-4-6 }] }
  n: { targets: [{ upstream: b, model: gpt-5 }] }`);
  const [first, second] = routing.targetsOf('m');
  assert.deepEqual([first?.timeouts?.whole.idleMs, first?.timeouts?.whole.totalMs], [5000, 7000]);
  assert.deepEqual([second?.timeouts?.whole.idleMs, second?.timeouts?.whole.totalMs], [5000, 9000]);
  assert.equal(routing.targetsOf('n')[0]?.timeouts, undefined);
  assert.equal(
    routing.targetsOf('gpt-4.1')[0]?.timeouts?.stream.firstByteMs,
    60_000,
    'the general rule applies to models that the configuration does not name',
  );
});

test('`weir config check` describes the targets of each model', () => {
  const { describeAll } = build(`${upstreams}models:
  one: { targets: [{ upstream: a, model: gpt-5 }] }
  alone: { targets: [{ upstream: c, model: claude-opus-4-6, when: { images: false } }] }
  canary:
    balance: random
    targets:
      - { upstream: a, model: gpt-5, priority: 1, weight: 199 }
      - { upstream: b, model: gpt-5, priority: 1 }
      - { upstream: c, model: claude-opus-4-6, priority: 2, when: { tools: true, inputTokensMax: 200000 } }
  both: { targets: [{ upstream: b, model: gpt-5 }, { upstream: c, model: claude-opus-4-6 }] }
  regions: { targets: [{ upstream: b, model: gpt-5 }, { upstream: a, model: gpt-5 }] }`);
  assert.deepEqual(describeAll(), [
    'model one: a/gpt-5 (2 keys)',
    'model alone: c/claude-opus-4-6 (only without images)',
    'model canary:',
    '  first  a/gpt-5 99.5 % (2 keys) + b/gpt-5 0.5 %, each call chosen at random',
    '   then  c/claude-opus-4-6 (only with tools, at most 200000 input tokens)',
    "model both: targets that speak the caller's interface before the others",
    '  first  b/gpt-5',
    '   then  c/claude-opus-4-6',
    'model regions:',
    '  first  b/gpt-5',
    '   then  a/gpt-5 (2 keys)',
  ]);
});
