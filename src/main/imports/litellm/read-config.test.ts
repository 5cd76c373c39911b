import assert from 'node:assert/strict';
import { test } from 'node:test';

import { ImportError } from '../import-plan.ts';
import { createConfigPlan } from '../plan-config.ts';
import { readLiteLlmConfig } from './read-config.ts';

function read(text: string) {
  const plan = createConfigPlan();
  const settings = readLiteLlmConfig(text, plan);
  return { ...plan.config(), ...settings, notes: plan.notes().map(({ kind, what, why }) => `${kind} ${what}: ${why}`) };
}

test('deployments of one account share an upstream, and those of one name a model', () => {
  const { upstreams, models, notes } = read(`
model_list:
  - { model_name: smart, litellm_params: { model: openai/gpt-5, api_key: os.environ/OPENAI_KEY, weight: 3 } }
  - { model_name: smart, litellm_params: { model: claude-sonnet-4-5, api_key: 'sk-ant-\${x}', order: 2, timeout: 30 } }
  - { model_name: gpt-5, litellm_params: { model: gpt-5, api_key: os.environ/OPENAI_KEY } }
  - { model_name: own, litellm_params: { model: hosted_vllm/qwen3, api_base: "http://gpu:8000/v1" } }
  - { model_name: local, litellm_params: { model: ollama_chat/llama3, api_base: "http://gpu:11434" } }
  - { model_name: proxied, litellm_params: { model: openai/any, api_base: "https://llm.example/v1", api_key: k } }
`);
  assert.deepEqual(upstreams, {
    openai: { vendor: 'openai', apiKey: '${OPENAI_KEY}' },
    anthropic: { vendor: 'anthropic', apiKey: 'sk-ant-$${x}' },
    'hosted-vllm': { vendor: 'openai-compatible', preset: 'vllm', baseUrl: 'http://gpu:8000/v1' },
    'ollama-chat': { vendor: 'openai-compatible', preset: 'ollama', baseUrl: 'http://gpu:11434/v1' },
    'openai-2': { vendor: 'openai-compatible', baseUrl: 'https://llm.example/v1', apiKey: 'k' },
  });
  assert.deepEqual(models?.['smart']?.targets, [
    { upstream: 'openai', model: 'gpt-5', priority: 1, weight: 3 },
    { upstream: 'anthropic', model: 'claude-sonnet-4-5', priority: 2, timeouts: { totalMs: 30_000 } },
  ]);
  assert.deepEqual(models?.['gpt-5']?.targets, [{ upstream: 'openai', priority: 1 }]);
  assert.deepEqual(notes, []);
});

test('prices for a token become prices for a million, to the last digit', () => {
  const { models } = read(`
model_list:
  - model_name: priced
    litellm_params: { model: groq/x, api_key: k, input_cost_per_token: 0.0000015, output_cost_per_token: 6e-7 }
    model_info: { mode: embedding, cache_read_input_token_cost: 1.234e-8 }
`);
  assert.deepEqual(models?.['priced']?.price, { input: '1.5', output: '0.6', cacheRead: '0.01234' });
  assert.equal(models?.['priced']?.kind, 'embeddings');
});

test('fallbacks are targets of a lower rank, and aliases lead to the same targets', () => {
  const { models } = read(`
model_list:
  - { model_name: a, litellm_params: { model: openai/a, api_key: k } }
  - { model_name: b, litellm_params: { model: anthropic/b, api_key: k } }
  - { model_name: c, litellm_params: { model: xai/c, api_key: k } }
router_settings:
  fallbacks: [{ a: [b] }]
  model_group_alias: { old-a: a }
litellm_settings:
  default_fallbacks: [c]
`);
  assert.deepEqual(models?.['a']?.targets, [
    { upstream: 'openai', priority: 1 },
    { upstream: 'anthropic', model: 'b', priority: 2 },
    { upstream: 'xai', model: 'c', priority: 3 },
  ]);
  assert.deepEqual(
    models?.['old-a']?.targets.map(({ upstream, model }) => `${upstream}/${model ?? ''}`),
    ['openai/a', 'anthropic/b', 'xai/c'],
  );
  assert.equal(models?.['c']?.targets.length, 1);
});

test('a prefix of names stays one', () => {
  const { models, notes } = read(`
model_list:
  - { model_name: "anthropic/*", litellm_params: { model: "anthropic/*", api_key: k } }
  - { model_name: "a*z", litellm_params: { model: "openai/*", api_key: k } }
`);
  assert.deepEqual(Object.keys(models ?? {}), ['anthropic/*']);
  assert.match(notes.join('\n'), /left out model_list\[1\] a\*z: a name with \* before its end/);
});

test('what Weir does not have is named with a reason', () => {
  const { totalMs, notes } = read(`
model_list:
  - { model_name: cloud, litellm_params: { model: sagemaker/gpt-5, api_base: "https://x.example" } }
  - { model_name: ok, litellm_params: { model: openai/gpt-5, api_key: k, rpm: 60, drop_params: true } }
  - { model_name: nameless }
router_settings: { routing_strategy: least-busy, redis_host: cache }
litellm_settings: { request_timeout: 600, callbacks: [otel] }
general_settings: { master_key: sk-1234 }
guardrails: []
`);
  assert.equal(totalMs, 600_000);
  const text = notes.join('\n');
  for (const expected of [
    /model_list\[0\] cloud: Weir has no upstream of the kind sagemaker/,
    /model_list\[1\] ok: litellm_params drop_params/,
    /ok: rpm or tpm of a deployment/,
    /model_list\[2\]: it has no model_name or no litellm_params/,
    /router_settings\.redis_host: Weir has no such setting/,
    /general_settings\.master_key: the console has people/,
    /left out guardrails: this section is not read/,
  ])
    assert.match(text, expected);
  assert.doesNotMatch(text, /sk-1234/, 'no value of a setting is repeated');
});

test('deployments of clouds keep their names, their credentials and the model behind them', () => {
  const { upstreams, models, notes } = read(`
model_list:
  - model_name: chat
    litellm_params: { model: azure/chat-prod, api_base: os.environ/AZ_BASE, api_key: os.environ/AZ_KEY, api_version: 2025-04-01-preview }
    model_info: { base_model: azure/gpt-4.1 }
  - model_name: chat
    litellm_params: { model: azure/chat-eu, api_base: "https://eu.openai.azure.com", tenant_id: t, client_id: c, client_secret: os.environ/AZ_SECRET }
  - { model_name: opus, litellm_params: { model: azure_ai/claude-opus-4-5, api_base: "https://r.services.ai.azure.com/anthropic", api_key: k } }
  - { model_name: phi, litellm_params: { model: azure_ai/phi-4, api_base: "https://r.services.ai.azure.com/models", api_key: k } }
  - { model_name: sonnet, litellm_params: { model: bedrock/eu.anthropic.claude-sonnet-4-5-20250929-v1:0, aws_region_name: eu-central-1 } }
  - { model_name: sonnet, litellm_params: { model: bedrock/us-east-1/anthropic.claude-sonnet-4-5-20250929-v1:0, aws_role_name: "arn:aws:iam::1:role/w" } }
  - { model_name: embed, litellm_params: { model: bedrock/amazon.titan-embed-text-v2:0, aws_region_name: us-east-1 } }
  - { model_name: flash, litellm_params: { model: vertex_ai/gemini-2.5-flash, vertex_project: acme, vertex_location: europe-west4, vertex_credentials: /run/key.json } }
`);
  const { vendor: _vendor, ...first } = upstreams?.['azure'] ?? {};
  assert.deepEqual(first, { baseUrl: '${AZ_BASE}', apiVersion: '2025-04-01-preview', apiKey: '${AZ_KEY}' });
  assert.deepEqual(upstreams?.['azure-2']?.credential, {
    kind: 'azure',
    from: 'client-secret',
    tenantId: 't',
    clientId: 'c',
    clientSecret: '${AZ_SECRET}',
  });
  assert.deepEqual(models?.['chat']?.targets[0], { upstream: 'azure', model: 'chat-prod', is: 'gpt-4.1', priority: 1 });
  assert.equal(upstreams?.['azure-ai']?.vendor, 'foundry');
  assert.equal(models?.['opus']?.targets[0]?.is, 'claude-opus-4-5');
  assert.deepEqual(upstreams?.['bedrock'], { vendor: 'bedrock', region: 'eu-central-1' });
  assert.deepEqual(upstreams?.['bedrock-2'], {
    vendor: 'bedrock',
    region: 'us-east-1',
    credential: { kind: 'aws', roleArn: 'arn:aws:iam::1:role/w' },
  });
  assert.equal(models?.['sonnet']?.targets[1]?.model, 'anthropic.claude-sonnet-4-5-20250929-v1:0');
  assert.deepEqual(upstreams?.['vertex-ai'], {
    vendor: 'vertex',
    project: 'acme',
    location: 'europe-west4',
    credential: { kind: 'google', file: '/run/key.json' },
  });
  assert.deepEqual(Object.keys(models ?? {}).toSorted(), ['chat', 'flash', 'opus', 'sonnet']);
  assert.match(notes.join('\n'), /phi: of azure_ai, only Claude/);
  assert.match(notes.join('\n'), /embed: of AWS Bedrock, Weir serves models of chats only/);
});

test('another file is refused', () => {
  assert.throws(() => read('upstreams: {}'), ImportError);
  assert.throws(() => read('- 1'), /not a mapping/);
  assert.throws(() => read('a: [b'), /not valid YAML/);
});
