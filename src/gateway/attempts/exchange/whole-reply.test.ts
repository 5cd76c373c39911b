import assert from 'node:assert/strict';
import { test } from 'node:test';

import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { createFakeExchange, type FakeExchangeOptions } from './testing/fake-exchange.ts';
import { WholeReply } from './whole-reply.ts';

const { 'anthropic-messages': messages, 'openai-chat': chat, 'gemini-generate-content': gemini } = chatDialects;
const headers = { 'content-type': 'application/json', 'x-ratelimit-limit': '9' };
const good =
  '{"id":"msg_1","type":"message","model":"served","stop_reason":"end_turn","content":[{"type":"text","text":"hi ✓"}],"usage":{"input_tokens":7,"output_tokens":2}}';

function start(options: Partial<FakeExchangeOptions> & { expected?: boolean; headers?: Record<string, string> } = {}) {
  const fake = createFakeExchange({ dialect: messages, ...options });
  const { controller } = fake;
  const flow = {
    pause: () => controller.pause(),
    resume: () => controller.resume(),
    stop: () => controller.abort(new Error('stopped')),
  };
  const reply = new WholeReply(fake.context, flow, options.headers ?? headers, options.expected ?? true);
  const take = (body: string, size = body.length): void => {
    const bytes = Buffer.from(body);
    for (let at = 0; at < bytes.length; at += Math.max(size, 1)) reply.data(Buffer.from(bytes.subarray(at, at + size)));
    reply.end();
  };
  return { ...fake, reply, take };
}

test('bytes out are bytes in, with their length, and the call is settled before the head', () => {
  for (const size of [1, 5, good.length]) {
    const whole = start();
    whole.take(good, size);
    assert.equal(whole.response.text(), good);
    assert.deepEqual(whole.response.headers, { ...headers, 'content-length': String(Buffer.byteLength(good)) });
    assert.deepEqual(whole.happened, ['content', 'settled finished', 'head 200', 'bytes', 'end']);
    assert.deepEqual(whole.outcomes[0]?.report?.usageReport?.usage, { inputTokens: 7, outputTokens: 2 });
    assert.equal(whole.outcomes[0].report.servedModel, 'served');
    assert.equal(whole.outcomes[0].complete, true);
  }
});

for (const [sent, received] of [
  [undefined, 'application/json'],
  ['text/plain; charset=utf-8', 'application/json'],
  ['Application/JSON', 'application/json'],
  ['application/jsonl', 'application/json'],
  ['application/json; charset=utf-8', 'application/json; charset=utf-8'],
  ['application/vnd.api+json', 'application/vnd.api+json'],
] as const) {
  test(`a reply that is JSON, sent as ${sent ?? 'nothing'}, arrives as ${received}`, () => {
    const whole = start({ headers: sent === undefined ? {} : { 'content-type': sent } });
    whole.take(good);
    assert.equal(whole.response.text(), good);
    assert.equal(whole.response.headers['content-type'], received);
  });
}

for (const [hazard, body, type] of [
  ['a body cut in the middle', good.slice(0, -10), 'application/json'],
  ['an empty body', '', 'application/json'],
  ['a page of a proxy', '<html>Bad gateway</html>', 'text/html'],
] as const) {
  test(`${hazard} is a 502 that costs nothing and names the type and the length, not the content`, () => {
    const whole = start({ headers: { 'content-type': type } });
    whole.take(body);
    assert.equal(whole.response.status, 502);
    assert.match(whole.response.text(), new RegExp(`${Buffer.byteLength(body)} bytes of ${type}`));
    assert.doesNotMatch(whole.response.text(), /Bad gateway|hi ✓/);
    assert.deepEqual(
      whole.outcomes.map(({ end, error }) => [end, error?.code]),
      [['failed', 'upstream_invalid_reply']],
    );
  });
}

test('error-inside-a-200: the answer is an error with the status that it names', () => {
  const whole = start({ dialect: gemini });
  whole.take('{"error":{"code":429,"message":"quota","status":"RESOURCE_EXHAUSTED"}}');
  assert.equal(whole.response.status, 429);
  assert.match(whole.response.text(), /quota/);
  assert.equal(whole.outcomes[0]?.end, 'failed');
  assert.equal(whole.outcomes[0].error?.code, 'upstream_rate_limited');
});

test('a whole reply to a stream request is invalid, but an error in it is passed on', () => {
  const whole = start({ dialect: chat, framing: 'sse', expected: false });
  whole.take('{"id":"x","object":"chat.completion","choices":[]}');
  assert.equal(whole.response.status, 502);
  const error = start({ dialect: chat, framing: 'sse', expected: false });
  error.take('{"error":{"message":"no GPU left","type":"server_error"}}');
  assert.match(error.response.text(), /no GPU left/);
  assert.deepEqual(
    [...whole.outcomes, ...error.outcomes].map(({ end }) => end),
    ['failed', 'failed'],
  );
});

test('a JSON value that is not an object does no harm', () => {
  for (const [id, dialect] of Object.entries(chatDialects)) {
    for (const body of [
      '3',
      'null',
      '[]',
      '"x"',
      '{}',
      '{"choices":7,"content":7,"candidates":7,"output":7,"usage":7,"usageMetadata":7}',
    ]) {
      const whole = start({ dialect });
      whole.take(body);
      assert.equal(whole.outcomes.length, 1, `${id} ${body}`);
      assert.equal(whole.response.writableEnded, true, `${id} ${body}`);
    }
  }
});

test('a reply larger than the limit stops the upstream at once', () => {
  const whole = start({ limits: { replyBytesMax: 10 } });
  whole.reply.data(Buffer.alloc(10));
  assert.equal(whole.outcomes.length, 0);
  whole.reply.data(Buffer.alloc(1));
  assert.equal(whole.controller.aborted, true);
  assert.equal(whole.response.status, 502);
  assert.match(whole.response.text(), /larger than 10 bytes; ask for a stream/);
  assert.equal(whole.outcomes.length, 1);
});

test('silence in the middle of a body is a time-out; bytes delay it', () => {
  const whole = start({ timeouts: { idleMs: 100 } });
  whole.reply.check(whole.advance(99));
  whole.reply.data(Buffer.from('{'));
  whole.reply.check(whole.advance(99));
  assert.equal(whole.outcomes.length, 0);
  whole.reply.check(whole.advance(1));
  assert.equal(whole.controller.aborted, true);
  assert.equal(whole.response.status, 504);
  assert.equal(whole.outcomes[0]?.error?.code, 'upstream_timeout');
});

test('client-leaves-mid-reply: the upstream is stopped and the client ended the call', () => {
  const whole = start();
  whole.reply.data(Buffer.from(good.slice(0, 20)));
  whole.reply.clientLeft();
  assert.equal(whole.controller.aborted, true);
  assert.deepEqual(whole.outcomes, [{ end: 'client-left', complete: false }]);
});

test('a connection that is closed in the body is still an HTTP status', () => {
  const whole = start();
  whole.reply.data(Buffer.from(good.slice(0, 20)));
  whole.reply.fail(new GatewayError('upstream_connection_error', 'it broke'));
  assert.equal(whole.response.status, 503);
  assert.equal(whole.outcomes[0]?.end, 'failed');
});
