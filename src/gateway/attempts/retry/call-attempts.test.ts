import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { breakDown, content, ending, opening, startAttempts, type StartedAttempts, succeed } from './testing/fake-attempts.ts';

describe('a call whose first target fails before any content is retried', () => {
  const failures: readonly (readonly [string, (call: StartedAttempts) => void])[] = [
    ['refused connection', (call) => call.breakOff('ECONNREFUSED')],
    ['credential that cannot be added', (call) => call.breakOff('AUTHORIZATION_FAILED')],
    ['proxy that refuses', (call) => call.breakOff('PROXY_REFUSED')],
    ['connect time-out', (call) => call.breakOff('CONNECT_TIMEOUT')],
    ['reset', (call) => call.breakOff('ECONNRESET')],
    ['500', (call) => call.refuse(500)],
    ['503', (call) => call.refuse(503)],
    ['529', (call) => call.refuse(529)],
    ['429 with a long wait', (call) => call.refuse(429, { 'retry-after': '60' })],
    ['401', (call) => call.refuse(401)],
    ['opened and cut', (call) => (call.answer(200), call.data(opening), call.breakOff('ECONNRESET'))],
    ['opened and an error event', (call) => (call.answer(200), call.data(`${opening}data: {"error":{"message":"busy","code":503}}\n\n`))],
    ['a page', (call) => (call.answer(200, { 'content-type': 'text/html' }), call.data('<p>'), call.end())],
  ];
  for (const [name, fail] of failures) {
    test(`${name}: the next one answers, the client notices nothing and is charged once`, async () => {
      const call = await startAttempts();
      fail(call);
      await call.settle();
      assert.equal(call.wire(), 'a b');
      await succeed(call);
      assert.equal(call.response.status, 200);
      assert.equal(call.response.text(), opening + content + ending);
      assert.equal(call.entries.length, 1);
      const [entry] = call.entries;
      assert.equal(entry?.upstream, 'b');
      assert.equal(entry?.end, 'finished');
      assert.deepEqual(entry?.usage, { inputTokens: 5, outputTokens: 1 });
      assert.deepEqual(
        entry?.failedAttempts?.map(({ upstream }) => upstream),
        ['a'],
      );
      assert.deepEqual(call.openings[1]?.failedAttempts, entry?.failedAttempts, 'the journal knew of it before the second was sent');
    });
  }

  test('the second request equals the first', async () => {
    const call = await startAttempts();
    call.refuse(503);
    await call.settle();
    assert.deepEqual(call.sent[1]?.request, call.sent[0]?.request);
  });
});

describe('an upstream may have several credentials', () => {
  test('the next credential of an unreachable upstream is not used while there is another upstream', async () => {
    const call = await startAttempts(['a#1', 'a#2', 'b']);
    call.breakOff('ECONNREFUSED');
    await call.settle();
    assert.equal(call.wire(), 'a#1 b');
  });

  test('an upstream that limits or refuses a credential is called with the next', async () => {
    for (const status of [429, 401]) {
      const call = await startAttempts(['a#1', 'a#2', 'b']);
      call.refuse(status);
      await call.settle();
      assert.equal(call.wire(), 'a#1 a#2', String(status));
    }
  });

  test('an upstream whose credential cannot be added is called with the next', async () => {
    const call = await startAttempts(['a#1', 'a#2', 'b']);
    call.breakOff('AUTHORIZATION_FAILED');
    await call.settle();
    assert.equal(call.wire(), 'a#1 a#2');
  });
});

describe('some failures are not retried', () => {
  test('F41: a stream that fails after its first content is not', async () => {
    const call = await startAttempts();
    call.answer(200);
    call.data(opening + content);
    call.breakOff('ECONNRESET');
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.entries[0]?.end, 'cut');
    assert.match(call.response.text(), /terminated early/);
  });

  test('a request that the upstream calls wrong is not', async () => {
    for (const status of [400, 404, 413, 422]) {
      const call = await startAttempts();
      call.refuse(status);
      await call.settle(60_000);
      assert.equal(call.wire(), 'a', String(status));
      assert.equal(call.response.status, status);
    }
  });

  test('nothing is after the client has disconnected', async () => {
    const call = await startAttempts();
    call.response.close();
    assert.equal(call.entries[0]?.end, 'failed');
    call.breakOff('ECONNRESET');
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.entries.length, 1);
  });

  test('a call that the gateway ends at its shutdown is not', async () => {
    const call = await startAttempts();
    call.attempts.terminate(new GatewayError('shutting_down', 'stop'));
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 503);
  });
});

describe('F40: attempts have a bound', () => {
  test('there are three at all targets together, in their order, and the last failure is the answer', async () => {
    const call = await startAttempts(['a', 'b', 'c', 'd']);
    for (const status of [503, 500, 529]) {
      call.refuse(status);
      await call.settle(10_000);
    }
    assert.equal(call.wire(), 'a b c');
    assert.equal(call.response.status, 529);
    assert.equal(call.entries.length, 1);
    assert.equal(call.entries[0]?.end, 'failed');
    assert.equal(call.entries[0]?.charge.amountNanoUsd, 0n);
    assert.equal(call.entries[0]?.failedAttempts?.length, 2);
  });

  test('a single target is retried after a while, not at once', async () => {
    const call = await startAttempts(['a']);
    call.refuse(503);
    await call.settle(1);
    assert.equal(call.wire(), 'a');
    await call.settle(5000);
    assert.equal(call.wire(), 'a a');
    await succeed(call);
    assert.equal(call.entries[0]?.end, 'finished');
  });

  test('a single target that names a time is retried then, or its answer passes', async () => {
    const soon = await startAttempts(['a']);
    soon.refuse(429, { 'retry-after': '2' });
    await soon.settle(1500);
    assert.equal(soon.wire(), 'a');
    await soon.settle(1000);
    assert.equal(soon.wire(), 'a a');
    const late = await startAttempts(['a']);
    late.refuse(429, { 'retry-after': '30' });
    await late.settle(60_000);
    assert.equal(late.wire(), 'a');
    assert.equal(late.response.status, 429);
    assert.equal(late.response.headers['retry-after'], '30');
  });

  test('F67: without budget the failure is the answer', async () => {
    const call = await startAttempts();
    while (call.gateway.retryBudget.take('b', 10, 1000) !== undefined);
    call.refuse(503);
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 503);
  });

  test('an operator can allow fewer', async () => {
    const call = await startAttempts(['a', 'b'], { attemptsMax: 1 });
    call.refuse(503);
    await call.settle(60_000);
    assert.equal(call.wire(), 'a');
    assert.equal(call.response.status, 503);
  });

  test('a target with an outage is not the next one, unless the operator disables that', async () => {
    const insistent = await startAttempts(['a', 'b', 'c'], { avoidFailing: false });
    breakDown(insistent, 'b');
    insistent.refuse(503);
    await insistent.settle();
    assert.equal(insistent.wire(), 'a b');
    const call = await startAttempts();
    breakDown(call, 'b');
    call.refuse(503);
    await call.settle();
    assert.equal(call.wire(), 'a c');
  });
});

describe('a target that swallows calls is left', () => {
  test('a call moves as soon as its target answers no call', async () => {
    const call = await startAttempts(['a', 'b']);
    for (let other = 0; other < 5; other += 1) {
      call.gateway.health.of({ upstreamId: 'a', credentialId: 'a', upstreamModel: 'm' }).begin();
    }
    await call.settle(9_000);
    assert.equal(call.wire(), 'a');
    await call.settle(2_000);
    assert.equal(call.wire(), 'a b');
    await succeed(call);
    assert.equal(call.entries[0]?.failedAttempts?.[0]?.errorCode, 'upstream_timeout');
  });

  test('a single waiting call keeps waiting: a model may reason for minutes', async () => {
    const call = await startAttempts(['a', 'b']);
    await call.settle(300_000);
    assert.equal(call.wire(), 'a');
  });
});
