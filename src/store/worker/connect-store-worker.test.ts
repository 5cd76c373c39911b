import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { TestContext } from 'node:test';
import { Worker } from 'node:worker_threads';
import type { StoreError } from '../store-error.ts';
import { connectStoreWorker } from './connect-store-worker.ts';
import type { StoreWorkerOptions } from './connect-store-worker.ts';
import { forwardedCalls, forwardedNames } from './forwarded-calls.ts';
import { changeAt } from '../../audit/testing/test-change.ts';

const limits: StoreWorkerOptions = { openTimeoutMs: 60_000, callTimeoutMs: 60_000, closeTimeoutMs: 20, pendingCallsMax: 3 };

/** Starts a worker that opens and then handles each message with `body`. */
function startWorker(context: TestContext, body: string): Worker {
  const source = `
    const { parentPort } = require('node:worker_threads');
    parentPort.on('message', (request) => { ${body} });
    parentPort.postMessage({ type: 'opened' });`;
  const worker = new Worker(source, { eval: true });
  context.after(() => worker.terminate());
  return worker;
}

test('a worker that dies rejects waiting and later calls, and the owner is notified once', async (context) => {
  const failures: StoreError[] = [];
  const worker = startWorker(context, `if (request.operation === 'keysVersion') process.exit(3);`);
  const store = await connectStoreWorker(worker, { ...limits, onFailure: (error) => failures.push(error) });
  assert.equal(store.failureReason(), undefined);
  const waiting = await Promise.allSettled([store.pepper(), store.keysVersion(), store.listApiKeys()]);
  for (const outcome of waiting) assert.equal(outcome.status === 'rejected' && (outcome.reason as StoreError).kind, 'unavailable');
  await assert.rejects(store.pepper(), { kind: 'unavailable', message: /code 3/ });
  assert.match(store.failureReason() ?? '', /ended by itself with code 3/);
  assert.equal(failures.length, 1);
  await store.close();
});

test('a worker that throws reports its error as the reason', async (context) => {
  const worker = startWorker(context, `throw new Error('out of luck');`);
  const store = await connectStoreWorker(worker, limits);
  await assert.rejects(store.pepper(), { kind: 'unavailable', message: /out of luck/ });
  await store.close();
});

test('a worker that hangs makes calls time out, its late answer is dropped, and closing ends the thread', async (context) => {
  const worker = startWorker(
    context,
    `if (request.id === 2) { for (const id of [1, 2]) parentPort.postMessage({ type: 'result', id, result: id }); }`,
  );
  // The test advances the time of one call; the other never times out.
  context.mock.timers.enable({ apis: ['setTimeout'] });
  const impatient = await connectStoreWorker(worker, { ...limits, callTimeoutMs: 1500 });
  const unanswered = impatient.pepper();
  context.mock.timers.tick(1500);
  await assert.rejects(unanswered, { kind: 'unavailable', message: /did not answer pepper within 1500 ms/ });
  assert.equal(await impatient.keysVersion(), 2);
  const closed = impatient.close();
  context.mock.timers.tick(limits.closeTimeoutMs);
  await closed;
});

test('a call beyond the queue is refused, and the others are not affected', async (context) => {
  const worker = startWorker(
    context,
    `setImmediate(() => parentPort.postMessage({ type: 'result', id: request.id, result: request.id }));`,
  );
  const store = await connectStoreWorker(worker, limits);
  const waiting = [store.keysVersion(), store.keysVersion(), store.keysVersion()];
  await assert.rejects(store.keysVersion(), { kind: 'unavailable', message: /More than 3/ });
  assert.deepEqual(await Promise.all(waiting), [1, 2, 3]);
  assert.equal(await store.keysVersion(), 4);
  await store.close();
});

test('a parameter that cannot be sent to a thread fails only its own call', async (context) => {
  const worker = startWorker(context, `parentPort.postMessage({ type: 'result', id: request.id, result: 'ok' });`);
  const store = await connectStoreWorker(worker, limits);
  const uncloneable = { id: 'u', name: 'u', createdAtMs: 1, extra: () => {} };
  await assert.rejects(store.ensureUser(uncloneable, changeAt()), { kind: 'internal' });
  assert.equal(await store.pepper(), 'ok');
  await store.close();
});

test('an error keeps its kind, message, entries and the stack of its thread', async (context) => {
  const error = `{ kind: 'entry-out-of-range', message: 'too much', callIds: ['a'], stack: 'from the worker' }`;
  const worker = startWorker(context, `parentPort.postMessage({ type: 'error', id: request.id, error: ${error} });`);
  const store = await connectStoreWorker(worker, limits);
  await assert.rejects(store.appendEntries([]), {
    kind: 'entry-out-of-range',
    message: 'too much',
    callIds: ['a'],
    stack: 'from the worker',
  });
  await store.close();
});

test('opening ends with the time limit, with a refusal, or with the thread', async () => {
  const hanging = new Worker(`setInterval(() => {}, 1000)`, { eval: true });
  await assert.rejects(connectStoreWorker(hanging, { ...limits, openTimeoutMs: 10 }), {
    kind: 'unavailable',
    message: /not opened in time/,
  });
  const refusing = `require('node:worker_threads').parentPort.postMessage({ type: 'refused', error: { kind: 'too-new', message: 'no', callIds: [] } });`;
  await assert.rejects(connectStoreWorker(new Worker(refusing, { eval: true }), limits), { kind: 'too-new', message: 'no' });
  await assert.rejects(connectStoreWorker(new Worker(`process.exit(7)`, { eval: true }), limits), {
    kind: 'unavailable',
    message: /code 7/,
  });
});

test('migrations that the thread announces have a time limit of their own', async (context) => {
  const migrating = (then: string): Worker => {
    const script = `const { parentPort } = require('node:worker_threads'); parentPort.postMessage({ type: 'migrating' }); ${then}`;
    const worker = new Worker(script, { eval: true });
    context.after(() => worker.terminate());
    return worker;
  };
  const announced = { ...limits, openTimeoutMs: 60_000 };
  await assert.rejects(connectStoreWorker(migrating('setInterval(() => {}, 1000)'), { ...announced, migrateTimeoutMs: 10 }), {
    kind: 'unavailable',
    message: /not opened in time/,
  });
  let announcements = 0;
  const onMigrating = (): void => void (announcements += 1);
  const opens = `parentPort.postMessage({ type: 'opened' }); parentPort.on('message', () => parentPort.close());`;
  const store = await connectStoreWorker(migrating(opens), { ...announced, migrateTimeoutMs: 60_000, onMigrating });
  assert.equal(announcements, 1);
  await store.close();
});

test('every operation of the store reaches the worker under its own name, with its declared parameters only', async (context) => {
  const worker = startWorker(
    context,
    `parentPort.postMessage({ type: 'result', id: request.id, result: [request.operation, ...request.parameters] });`,
  );
  const store = await connectStoreWorker(worker, limits);
  for (const name of forwardedNames) {
    const parameters = Array.from({ length: forwardedCalls[name] }, (_, index) => index);
    const method = store[name] as (...parameters: readonly unknown[]) => Promise<unknown>;
    assert.deepEqual(await method(...parameters, () => 'cannot be cloned'), [name, ...parameters]);
  }
  await store.close();
});
