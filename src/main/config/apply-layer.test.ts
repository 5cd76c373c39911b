import assert from 'node:assert/strict';
import { test } from 'node:test';

import { findLayerProblems } from './apply-layer.ts';

const none = { settings: {}, names: [] };
const server = { vendor: 'openai-compatible', baseUrl: 'https://llm.example/v1' };

test('a layer may not use what the machines of the gateways have', () => {
  const credential = { kind: 'aws', from: 'instance' };
  const found = findLayerProblems({ upstreams: { cloud: { vendor: 'bedrock', region: 'us-east-1', credential } } }, none);
  assert.deepEqual(
    found.map(({ path }) => path),
    [['upstreams', 'cloud', 'credential']],
  );
  const keyless = findLayerProblems({ upstreams: { cloud: { vendor: 'bedrock', region: 'us-east-1' } } }, none);
  assert.deepEqual(
    keyless.map(({ path }) => path),
    [['upstreams', 'cloud']],
  );
  for (const apiKey of ['${OPENAI_API_KEY}', 'x${file:/etc/passwd}', '${NAME:-fallback}']) {
    const [problem] = findLayerProblems({ upstreams: { own: { ...server, apiKey } } }, none);
    assert.deepEqual(problem?.path, ['upstreams', 'own', 'apiKey']);
    assert.match(problem.message, /must not refer to what a machine has/);
  }
});

test('a layer with a key of its own has no problem', () => {
  assert.deepEqual(findLayerProblems({ upstreams: { own: { ...server, apiKey: 'sk-own' } } }, none), []);
});
