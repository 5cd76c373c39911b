import assert from 'node:assert/strict';
import { test } from 'node:test';

import { describeWelcome, type Welcome } from './welcome.ts';

const full: Welcome = {
  gatewayUrl: 'http://127.0.0.1:8080',
  metricsUrl: undefined,
  monitorUrl: 'http://127.0.0.1:8081',
  newApiKey: 'sk-weir-new',
  newBillingToken: 'bt-weir-new',
  source: { type: 'simulated', upstreams: { 'simulated-openai': { vendor: 'openai' } } },
  examples: { messages: 'claude-x', chat: 'gpt-x', generateContent: 'gemini-x' },
};

test('the last line is the ready line, for programs to read', () => {
  const last = (welcome: Partial<Welcome>) =>
    describeWelcome({ ...full, ...welcome })
      .split('\n')
      .at(-1);
  assert.equal(last({}), 'weir ready: gateway http://127.0.0.1:8080 monitor http://127.0.0.1:8081');
  assert.equal(last({ monitorUrl: undefined }), 'weir ready: gateway http://127.0.0.1:8080');
  assert.equal(last({ gatewayUrl: undefined, source: undefined, examples: {} }), 'weir ready: monitor http://127.0.0.1:8081');
});

test('the ready line has the console, and the link to sign in stands apart from it', () => {
  const text = describeWelcome({ ...full, consoleUrl: 'http://127.0.0.1:8082', consoleLink: 'http://127.0.0.1:8082/#in=code' });
  assert.match(text, /^Console \(works once, 15 minutes\): http:\/\/127\.0\.0\.1:8082\/#in=code$/m);
  assert.match(text, /8082 {2}console: pages .*; the link above signs you in\n/);
  assert.match(text, /\nweir ready: .* console http:\/\/127\.0\.0\.1:8082$/);
});

test('a start of all programs explains each of its ports, and a start of one program does not', () => {
  const text = describeWelcome({ ...full, consoleUrl: 'http://127.0.0.1:8082' });
  assert.match(
    text,
    /8080 {2}gateway: clients .*\n.*8081 {2}monitor: statistics .*\n.*8082 {2}console: pages and API for administration\nweir ready:/,
  );
  assert.doesNotMatch(describeWelcome({ ...full, monitorUrl: undefined }), /gateway: clients/);
});

test('new secrets are shown with example commands for each served interface', () => {
  const text = describeWelcome(full);
  assert.match(text, /API key \(shown this once\): +sk-weir-new/);
  assert.match(text, /Billing token \(shown this once\): bt-weir-new/);
  assert.match(text, /curl http:\/\/127\.0\.0\.1:8080\/v1\/messages .*'x-api-key: sk-weir-new'/);
  assert.match(text, /curl -N http:\/\/127\.0\.0\.1:8080\/v1\/chat\/completions .*'authorization: Bearer sk-weir-new'/);
  assert.match(text, /curl 'http:\/\/127\.0\.0\.1:8080\/v1beta\/models\/gemini-x:generateContent' .*'x-goog-api-key: sk-weir-new'/);
  assert.match(text, /curl http:\/\/127\.0\.0\.1:8081\/bill\/stats .*'token: bt-weir-new'/);
});

test('the bodies of the commands are JSON with a served model', () => {
  const bodies = [...describeWelcome(full).matchAll(/-d '(\{.*\})'/g)].map(([, body = '']) => JSON.parse(body) as { model?: string });
  assert.deepEqual(
    bodies.map(({ model }) => model),
    ['claude-x', 'gpt-x', undefined],
  );
  const some = describeWelcome({ ...full, examples: { chat: 'only' } });
  assert.doesNotMatch(some, /\/v1\/messages|generateContent/);
  assert.match(some, /"model":"only"/);
});

test('a later start shows no secret and no command that lacks one', () => {
  const text = describeWelcome({ ...full, newApiKey: undefined, newBillingToken: undefined });
  assert.doesNotMatch(text, /curl|shown this once/);
  assert.match(text, /simulated vendors/);
});

test('the source of the upstreams is shown, without their keys', () => {
  const upstreams = {
    anthropic: { vendor: 'anthropic', apiKey: 'sk-vendor' },
    local: { vendor: 'openai-compatible', apiKey: 'sk-vendor' },
  } as const;
  for (const [type, words] of [
    ['file', /^upstreams: anthropic, local$/m],
    ['environment', /^upstreams, from the keys in the environment: anthropic, local$/m],
    ['simulated', /^upstreams: simulated vendors\. Set a vendor key such as OPENAI_API_KEY/m],
  ] as const) {
    const text = describeWelcome({ ...full, source: { type, upstreams } });
    assert.match(text, words);
    assert.doesNotMatch(text, /sk-vendor/);
  }
});
