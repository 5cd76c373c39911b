import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createConfigPlan } from './plan-config.ts';
import { readOpenRouter } from './read-openrouter.ts';
import { readPortkey } from './read-portkey.ts';

test('strategies of Portkey become ranks and weights, in both spellings', () => {
  const plan = createConfigPlan();
  const config = {
    strategy: { mode: 'fallback' },
    cache: { mode: 'simple' },
    targets: [
      {
        strategy: { mode: 'loadbalance' },
        targets: [
          { provider: 'openai', api_key: 'a', weight: 0.7, override_params: { model: 'gpt-5', temperature: 0 } },
          { provider: '@anthropic', apiKey: 'b', weight: 0.3, overrideParams: { model: 'claude-haiku-4-5' }, requestTimeout: 9000 },
        ],
      },
      { virtualKey: 'secret-of-portkey' },
      { provider: 'azure-openai', api_key: 'c' },
      { provider: 'groq' },
    ],
  };
  readPortkey(JSON.stringify(config), 'main', plan);
  assert.deepEqual(plan.targetsOf('main'), [
    { upstream: 'openai', model: 'gpt-5', priority: 1, weight: 70 },
    { upstream: 'anthropic', model: 'claude-haiku-4-5', priority: 1, weight: 30, timeouts: { totalMs: 9000 } },
    { upstream: 'groq', priority: 4 },
  ]);
  assert.equal(plan.config().upstreams?.['groq']?.apiKey, '${GROQ_API_KEY}');
  assert.deepEqual(
    plan.notes().map(({ what, why }) => `${what}: ${why}`),
    [
      'config: cache',
      'config.targets[0].targets[0]: override_params temperature',
      'config.targets[1]: only Portkey knows the provider and key of secret-of-portkey',
      'config.targets[2]: Weir has no upstream of the kind azure-openai',
    ],
  );
});

test('a Portkey config without a usable target is refused', () => {
  assert.throws(() => readPortkey('{"provider":"bedrock"}', 'm', createConfigPlan()), /no target/);
  assert.throws(() => readPortkey('{}', 'm', createConfigPlan()), /is it a Portkey config/);
  assert.throws(() => readPortkey('[]', 'm', createConfigPlan()), /JSON object/);
});

test('models of OpenRouter are targets in their order', () => {
  const plan = createConfigPlan();
  readOpenRouter('{"model":"openai/gpt-5","models":["openai/gpt-5","anthropic/claude-sonnet-4.5"],"provider":{}}', 'best', plan);
  assert.deepEqual(plan.targetsOf('best'), [
    { upstream: 'openrouter', model: 'openai/gpt-5', priority: 1 },
    { upstream: 'openrouter', model: 'anthropic/claude-sonnet-4.5', priority: 2 },
  ]);
  assert.deepEqual(plan.notes().length, 1);
  assert.throws(() => readOpenRouter('{}', 'best', createConfigPlan()), /neither model nor models/);
});
