import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import { ErrorReply } from './whole-reply.ts';
import { createFakeExchange, type FakeExchangeOptions } from './testing/fake-exchange.ts';

const headers = { 'content-type': 'application/json', 'retry-after': '7', 'x-ratelimit-remaining': '0' };

function start(status: number, options: Partial<FakeExchangeOptions> & { headers?: Record<string, string> } = {}) {
  const fake = createFakeExchange({ dialect: chatDialects['openai-chat'], ...options });
  const { controller } = fake;
  const flow = {
    pause: () => controller.pause(),
    resume: () => controller.resume(),
    stop: () => controller.abort(new Error('stopped')),
  };
  const reply = new ErrorReply(fake.context, flow, { status, headers: options.headers ?? headers, received: {} });
  const take = (body: string): void => {
    if (body !== '') reply.data(Buffer.from(body));
    reply.end();
  };
  return { ...fake, reply, take };
}

test("a vendor's refusal passes unchanged with status, headers and body, and costs nothing", () => {
  for (const status of [400, 404, 422, 429, 500, 529]) {
    const error = start(status);
    const body = '{"error":{"message":"no ✗","type":"x"}}';
    error.take(body);
    assert.equal(error.response.status, status);
    assert.equal(error.response.text(), body);
    assert.deepEqual(error.response.headers, { ...headers, 'content-length': String(Buffer.byteLength(body)) });
    assert.deepEqual(error.happened, ['settled failed', `head ${status}`, 'bytes', 'end']);
    assert.equal(error.outcomes[0]?.error?.code, 'upstream_error');
  }
});

test('a refusal in JSON arrives as JSON, whatever type its server names', () => {
  for (const sent of [{}, { 'content-type': 'text/plain' }]) {
    const error = start(400, { headers: sent });
    error.take('{"error":{"message":"no"}}');
    assert.equal(error.response.headers['content-type'], 'application/json');
    assert.equal(error.response.text(), '{"error":{"message":"no"}}');
  }
});

test("a refusal of the operator's credential is reworded for the client", () => {
  for (const status of [401, 407]) {
    const error = start(status, { apiKey: 'sk-operator-secret' });
    error.take('{"error":{"message":"Incorrect API key provided: sk-operator-secret"}}');
    assert.equal(error.response.status, 503);
    assert.doesNotMatch(error.response.text(), /sk-operator|Incorrect/);
    assert.equal(error.outcomes[0]?.error?.code, 'upstream_credentials_rejected');
  }
  for (const [status, message] of [
    [403, 'The API key of this service was reported as leaked'],
    [400, 'API key not valid. Please pass a valid API key.'],
    [402, 'This requires more credits'],
    [429, 'You exceeded your current quota, please check your plan and billing details.'],
  ] as const) {
    const error = start(status);
    error.take(JSON.stringify({ error: { message } }));
    assert.equal(error.response.status, 503, message);
    assert.ok(!error.response.text().includes(message));
    assert.ok(error.outcomes[0]?.error?.internal?.includes(message.slice(0, 20)), 'the operator is told');
  }
});

test('A2: a 403 about a model, a region or a stored object reaches the client in the vendor’s words', () => {
  for (const message of [
    'CachedContent not found (or permission denied)',
    'Country, region, or territory not supported',
    'Project does not have access to model',
  ]) {
    const error = start(403);
    error.take(JSON.stringify({ error: { message } }));
    assert.equal(error.response.status, 403);
    assert.ok(error.response.text().includes(message));
  }
});

test('a 403 about the content of the request reaches the client', () => {
  const error = start(403);
  error.take('{"error":"Content violates usage guidelines."}');
  assert.equal(error.response.status, 403);
  assert.equal(error.response.text(), '{"error":"Content violates usage guidelines."}');
});

test('a vendor that quotes the key does not show it to a client', () => {
  const error = start(400, { apiKey: 'sk-operator-secret' });
  error.take('{"error":{"message":"key sk-operator-secret (sk-operator-secret) may not"}}');
  assert.equal(error.response.text(), '{"error":{"message":"key [redacted] ([redacted]) may not"}}');
  assert.equal(error.response.headers['content-length'], String(error.response.text().length));
});

test('a body that no SDK can read is reworded, with the status and the advice', () => {
  for (const body of ['', '<html>503</html>', '{"error":']) {
    const error = start(503, { headers: { ...headers, 'content-type': 'text/html', 'retry-after-ms': '10', 'x-should-retry': 'true' } });
    error.take(body);
    assert.equal(error.response.status, 503);
    assert.match(error.response.text(), new RegExp(`"message":"[^"]*answered 503 with ${body.length} bytes of text/html`));
    assert.equal(error.response.headers['content-type'], 'application/json');
    assert.equal(error.response.headers['retry-after'], '7');
    assert.equal(error.response.headers['retry-after-ms'], '10');
    assert.equal(error.response.headers['x-should-retry'], 'true');
  }
});

test('a redirect is not followed and not passed on', () => {
  for (const status of [301, 302, 307, 308, 304]) {
    const error = start(status, { headers: {} });
    error.take('{}');
    assert.equal(error.response.status, 502);
    assert.match(error.response.text(), new RegExp(`answered ${status} with 2 bytes of no content type`));
    assert.equal(error.response.headers['location'], undefined);
  }
});

test('an endless error body is stopped', () => {
  const error = start(500, { limits: { errorBytesMax: 10 } });
  error.reply.data(Buffer.alloc(11));
  assert.equal(error.controller.aborted, true);
  assert.equal(error.response.status, 502);
  assert.equal(error.outcomes[0]?.error?.code, 'upstream_reply_too_large');
  assert.equal(error.outcomes.length, 1);
});

test('an error body that stops in the middle is a time-out', () => {
  const error = start(500, { timeouts: { idleMs: 100 } });
  error.reply.data(Buffer.from('{'));
  error.reply.check(error.advance(99));
  assert.equal(error.outcomes.length, 0);
  error.reply.check(error.advance(1));
  assert.equal(error.controller.aborted, true);
  assert.equal(error.response.status, 504);
});

test('a client that disconnects before the error has arrived pays nothing', () => {
  const error = start(429);
  error.reply.data(Buffer.from('{'));
  error.reply.clientLeft();
  assert.equal(error.controller.aborted, true);
  assert.deepEqual(error.outcomes, [{ end: 'failed', complete: false }]);
});
