import assert from 'node:assert/strict';
import { test } from 'node:test';

import { startReceiver } from './testing/callback-receiver.ts';
import { watchedEventType } from './create-event.ts';
import { createSenderBench, userName } from './testing/sender-bench.ts';
import { changeAt } from '../../audit/testing/test-change.ts';

const minute = 60_000;
const day = 24 * 60 * minute;

test('two concurrent senders send each event once', async (context) => {
  const { url, received } = await startReceiver(context);
  const bench = createSenderBench({ perHostMax: 100, inFlightMax: 7 });
  for (let index = 0; index < 40; index += 1) await bench.queue(url, `video_${index}`);
  const second = bench.another();
  for (let rounds = 0; rounds < 10; rounds += 1) await Promise.all([bench.sender.round(), second.round()]);
  assert.equal(received.length, 40);
  assert.equal(new Set(received.map(({ headers }) => headers['webhook-id'])).size, 40);
});

test('after a sender died, another attempt follows under the same id', async (context) => {
  const { url, received } = await startReceiver(context);
  const bench = createSenderBench();
  await bench.queue(url);
  const dies = bench.another({ store: { ...bench.store, recordAttempt: () => Promise.reject(new Error('the process was killed')) } });
  await dies.round();
  assert.equal(await bench.sender.round(), 0, 'the lease holds');
  bench.advance(2 * minute);
  await bench.sender.round();
  assert.equal(received.length, 2);
  assert.equal(received[0]?.headers['webhook-id'], received[1]?.headers['webhook-id']);
  assert.equal((await bench.only()).status, 'delivered');
});

test('a receiver that hangs delays no other receiver, and uses only its share of the sender', async (context) => {
  const dead = await startReceiver(context, () => undefined);
  const alive = await startReceiver(context);
  const bench = createSenderBench({ perHostMax: 2, inFlightMax: 4, timeoutMs: 20_000 });
  for (let index = 0; index < 30; index += 1) await bench.queue(dead.url, `dead_${index}`);
  await bench.queue(alive.url, 'video_alive');
  bench.sender.start();
  const waited = AbortSignal.timeout(30_000);
  while (alive.received.length === 0 && !waited.aborted) await new Promise((resolve) => void setTimeout(resolve, 10));
  await bench.sender.close();
  assert.equal(alive.received.length, 1);
  assert.ok(dead.received.length <= 4, `${dead.received.length}`);
  const untried = (await bench.store.listDeliveries({ userName, limit: 100 })).filter(({ attempts }) => attempts === 0);
  assert.ok(untried.length >= 26 && untried.every(({ status }) => status === 'waiting'));
});

test('a user whose receivers hang under many names delays no other user', async (context) => {
  const dead = await startReceiver(context, () => undefined);
  const alive = await startReceiver(context);
  const { port } = new URL(dead.url);
  const bench = createSenderBench({
    inFlightMax: 6,
    perUserMax: 3,
    timeoutMs: 20_000,
    lookUp: async () => [{ address: '127.0.0.1', family: 4 }],
  });
  for (let index = 0; index < 30; index += 1) await bench.queue(`http://n${index}.example:${port}/`, `dead_${index}`);
  await bench.queue(alive.url, 'video_alive', 'bob');
  bench.sender.start();
  const waited = AbortSignal.timeout(30_000);
  while (alive.received.length === 0 && !waited.aborted) await new Promise((resolve) => void setTimeout(resolve, 10));
  await bench.sender.close();
  assert.equal(alive.received.length, 1);
  assert.ok(dead.received.length <= 6, `${dead.received.length}`);
});

test('a closed sender aborts running attempts and does not count them', async (context) => {
  const { url, received } = await startReceiver(context, () => undefined);
  const bench = createSenderBench({ timeoutMs: 60_000 });
  await bench.queue(url);
  bench.sender.start();
  const waited = AbortSignal.timeout(30_000);
  while (received.length === 0 && !waited.aborted) await new Promise((resolve) => void setTimeout(resolve, 5));
  await bench.sender.close();
  const { status, attempts } = await bench.only();
  assert.deepEqual([status, attempts], ['waiting', 0]);
});

test('a repeated delivery starts from its first attempt, and deliveries are deleted 30 days after their end', async (context) => {
  const { url, received } = await startReceiver(context);
  const bench = createSenderBench();
  await bench.queue(url);
  await bench.sender.round();
  const { id } = await bench.only();
  assert.equal(await bench.store.redeliver({ userName: 'bob', id, change: changeAt(bench.nowMs()) }), false);
  assert.equal(await bench.store.redeliver({ userName, id, change: changeAt(bench.nowMs()) }), true);
  await bench.sender.round();
  assert.equal(received.length, 2);
  bench.advance(29 * day);
  await bench.sender.round();
  assert.equal((await bench.only()).id, id);
  bench.advance(2 * day);
  await bench.sender.round();
  await assert.rejects(bench.only());
});

test('a watch is checked until its end, and is never sent', async (context) => {
  const { url, received } = await startReceiver(context);
  const asked: string[] = [];
  const bench = createSenderBench({
    watch: async (_delivery, address) => {
      asked.push(address);
      return asked.length < 3 ? bench.nowMs() + minute : undefined;
    },
  });
  const watch = { userName, subject: 'resp_1', eventType: watchedEventType, payload: '', createdAtMs: bench.nowMs() };
  await bench.store.insertDeliveries([{ ...watch, id: 'watch_1', sealedUrl: bench.vault.sealUrl(url, 'watch_1') }]);
  for (let round = 0; round < 5; round += 1) {
    await bench.sender.round();
    bench.advance(minute);
  }
  assert.deepEqual(asked, [url, url, url]);
  assert.equal(received.length, 0);
  assert.equal((await bench.only()).status, 'delivered');
});

test('sending continues after an outage of the store', async (context) => {
  const { url, received } = await startReceiver(context);
  const bench = createSenderBench();
  await bench.queue(url);
  let fails = 3;
  const claimDeliveries: typeof bench.store.claimDeliveries = (claim) =>
    fails-- > 0 ? Promise.reject(new Error('down')) : bench.store.claimDeliveries(claim);
  const sender = bench.another({ store: { ...bench.store, claimDeliveries }, pollMs: 5 });
  sender.start();
  const waited = AbortSignal.timeout(30_000);
  while (received.length === 0 && !waited.aborted) await new Promise((resolve) => void setTimeout(resolve, 5));
  await sender.close();
  assert.equal(received.length, 1);
});
