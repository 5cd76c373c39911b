import assert from 'node:assert/strict';
import { once } from 'node:events';
import type { ServerResponse } from 'node:http';
import { test } from 'node:test';

import { Webhook } from 'standardwebhooks';

import { startReceiver, type Received } from './testing/callback-receiver.ts';
import { createSenderBench, userName } from './testing/sender-bench.ts';
import { changeAt } from '../../audit/testing/test-change.ts';

const second = 1000;
const minute = 60 * second;
const hour = 60 * minute;

/** Verifies a callback as a receiver does, at the time in its header. */
function verify(secret: string, { headers, body }: Received): unknown {
  return new Webhook(secret).verify(body, { ...headers } as Record<string, string>);
}

test('an event arrives once, without content, and the standard verifier accepts its signature', async (context) => {
  const { url, received } = await startReceiver(context);
  const bench = createSenderBench();
  // The verifier uses the clock of its machine.
  bench.advance(Date.now() - bench.nowMs());
  await bench.queue(url);
  assert.equal(await bench.sender.round(), 1);
  assert.equal(await bench.sender.round(), 0);
  assert.equal(received.length, 1);
  const [one] = received;
  assert.ok(one);
  const [secret] = await bench.vault.secretsOf(userName);
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  const event = verify(secret, one) as Record<string, unknown>;
  assert.deepEqual(Object.keys(event), ['id', 'object', 'created_at', 'type', 'data']);
  assert.deepEqual([event['object'], event['type'], event['data']], ['event', 'video.completed', { id: 'video_1' }]);
  assert.equal(one.headers['content-type'], 'application/json');
  const delivery = await bench.only();
  assert.equal(one.headers['webhook-id'], delivery.id);
  assert.deepEqual([delivery.status, delivery.attempts, delivery.lastStatus], ['delivered', 1, 204]);
  assert.throws(() => verify(secret, { ...one, body: `${one.body} ` }));
  assert.throws(() => verify(secret, { ...one, headers: { ...one.headers, 'webhook-id': 'msg_other' } }));
});

test('during a rotation both secrets sign an event, afterwards only the new one', async (context) => {
  const { url, received } = await startReceiver(context);
  const bench = createSenderBench();
  bench.advance(Date.now() - bench.nowMs());
  const [old] = await bench.vault.secretsOf(userName);
  const fresh = await bench.vault.rotate(userName, changeAt());
  await bench.queue(url);
  await bench.sender.round();
  const [both] = received;
  assert.ok(both);
  verify(old, both);
  verify(fresh, both);
  bench.advance(24 * hour);
  assert.deepEqual(await bench.vault.secretsOf(userName), [fresh]);
  await bench.queue(url, 'video_2');
  await bench.sender.round();
  assert.equal(received[1]?.headers['webhook-signature']?.toString().split(' ').length, 1);
});

test('a failed delivery is retried after 5 s, 5 min, 30 min, 2, 5, 10, 14, 20 and 24 h, under one id, and then abandoned', async (context) => {
  const { url, received } = await startReceiver(context, (response) => void response.writeHead(500).end('secret words'));
  const bench = createSenderBench();
  await bench.queue(url);
  await bench.sender.round();
  for (const delayMs of [5 * second, 5 * minute, 30 * minute, 2 * hour, 5 * hour, 10 * hour, 14 * hour, 20 * hour, 24 * hour]) {
    bench.advance(delayMs - 1);
    assert.equal(await bench.sender.round(), 0);
    bench.advance(1);
    assert.equal(await bench.sender.round(), 1);
  }
  const delivery = await bench.only();
  assert.deepEqual([delivery.status, delivery.attempts, delivery.lastStatus], ['given-up', 10, 500]);
  assert.equal(delivery.lastProblem, 'the receiver answered with status 500');
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 1);
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-timestamp'])).size, 10);
  bench.advance(100 * hour);
  assert.equal(await bench.sender.round(), 0);
  assert.doesNotMatch(JSON.stringify(bench.logged), /token=secret|secret words/);
});

for (const [random, delayMs] of [
  [0, 4500],
  [1, 5500],
] as const) {
  test(`pauses differ between deliveries: ${delayMs} ms for ${random}`, async (context) => {
    const { url } = await startReceiver(context, (response) => void response.writeHead(503).end());
    const bench = createSenderBench({ random: () => random });
    await bench.queue(url);
    await bench.sender.round();
    assert.equal((await bench.only()).nextAttemptAtMs - bench.nowMs(), delayMs);
  });
}

const failures: readonly [what: string, answer: (response: ServerResponse) => void, status: string, lastStatus: number | undefined][] = [
  ['redirects', (response) => void response.writeHead(307, { location: '/elsewhere' }).end(), 'waiting', 307],
  ['is gone', (response) => void response.writeHead(410).end(), 'given-up', 410],
  ['disconnects', (response) => void response.destroy(), 'waiting', undefined],
  ['refuses', (response) => void response.writeHead(401).end(), 'waiting', 401],
  ['sends headers without end', (response) => void response.writeHead(200, { x: 'y'.repeat(60_000) }).end(), 'waiting', undefined],
];
for (const [what, answer, status, lastStatus] of failures) {
  test(`an event is not delivered to a receiver that ${what}`, async (context) => {
    const { url, received } = await startReceiver(context, answer);
    const bench = createSenderBench();
    await bench.queue(url);
    await bench.sender.round();
    const delivery = await bench.only();
    assert.deepEqual([delivery.status, delivery.attempts, delivery.lastStatus], [status, 1, lastStatus]);
    assert.equal(received.length, 1);
  });
}

test('an event is not delivered to a receiver that hangs', async (context) => {
  const limit = new AbortController();
  const byClock = AbortSignal.timeout.bind(AbortSignal);
  context.mock.method(AbortSignal, 'timeout', (ms: number) => (ms === 7000 ? limit.signal : byClock(ms)));
  // Its time ends after it has received the event, even on a slow machine.
  const { url, received } = await startReceiver(context, () => limit.abort());
  const bench = createSenderBench({ timeoutMs: 7000 });
  await bench.queue(url);
  await bench.sender.round();
  const { status, attempts, lastStatus, lastProblem } = await bench.only();
  assert.deepEqual([status, attempts, lastStatus, lastProblem], ['waiting', 1, undefined, 'the receiver did not answer in time']);
  assert.equal(received.length, 1);
});

test('an event is delivered to a receiver that answers with gigabytes, which are not read', async (context) => {
  const closed = Promise.withResolvers<unknown>();
  const { url } = await startReceiver(context, (response) => {
    closed.resolve(once(response, 'close', { signal: AbortSignal.timeout(30_000) }));
    response.writeHead(200);
    const pour = (): void => {
      while (!response.destroyed && response.write(Buffer.alloc(1_000_000)));
      if (!response.destroyed) response.once('drain', pour);
    };
    pour();
  });
  const bench = createSenderBench();
  await bench.queue(url);
  await bench.sender.round();
  assert.equal((await bench.only()).status, 'delivered');
  await closed.promise;
});

test('a receiver in a private network, over http or behind a name that leads there is not called', async (context) => {
  const { url, received } = await startReceiver(context);
  const { port } = new URL(url);
  const bench = createSenderBench({ allowPrivate: () => false, lookUp: async () => [{ address: '127.0.0.1', family: 4 }] });
  for (const address of [url, `https://127.0.0.1:${port}/`, `https://hooks.example:${port}/`, 'https://2130706433/', 'https://[::1]/'])
    await bench.queue(address, address);
  await bench.sender.round();
  const deliveries = await bench.store.listDeliveries({ userName, limit: 10 });
  assert.deepEqual(
    deliveries.map(({ status, attempts }) => [status, attempts]),
    Array.from({ length: 5 }, () => ['waiting', 1]),
  );
  assert.equal(received.length, 0);
});

test('a delivery whose address was sealed under another key is abandoned', async () => {
  const bench = createSenderBench();
  const other = createSenderBench();
  await other.queue('http://127.0.0.1:9/');
  const foreign = await other.only();
  await bench.store.insertDeliveries([foreign]);
  await bench.sender.round();
  assert.equal((await bench.only()).status, 'given-up');
});
