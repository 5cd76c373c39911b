import assert from 'node:assert/strict';
import { getEventListeners, once } from 'node:events';
import { test } from 'node:test';
import { Worker } from 'node:worker_threads';

import { waitFor } from './wait-for.ts';

const longMs = 60_000;

test('the result of work in time is returned, and no timer is left', async () => {
  const { signal } = new AbortController();
  assert.equal(await waitFor(Promise.resolve(3), longMs), 3);
  assert.equal(await waitFor(Promise.resolve(3), longMs, signal), 3);
  await assert.rejects(waitFor(Promise.reject(new Error('broken')), longMs, signal), /broken/);
  assert.equal(getEventListeners(signal, 'abort').length, 0);
});

test('work-that-never-ends: the wait ends with an error named TimeoutError', async () => {
  await assert.rejects(waitFor(new Promise(() => {}), 1), { name: 'TimeoutError', message: 'No answer within 1 ms.' });
});

test('an abort ends the wait, and a later failure of the work is ignored', async () => {
  const work = Promise.withResolvers<void>();
  const controller = new AbortController();
  const wait = waitFor(work.promise, longMs, controller.signal);
  controller.abort(new Error('too late'));
  await assert.rejects(wait, /too late/);
  work.reject(new Error('nobody waits'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('a signal that has aborted before wins, even over finished or failed work', async () => {
  const signal = AbortSignal.abort(new Error('too late'));
  await assert.rejects(waitFor(Promise.reject(new Error('broken')), longMs, signal), /too late/);
  await assert.rejects(waitFor(Promise.resolve(3), longMs, signal), /too late/);
});

test('an answer of a thread that came in time counts, although this thread had no processor until after the limit', async (context) => {
  const shared = new Int32Array(new SharedArrayBuffer(4));
  const source = `
    const { parentPort, workerData } = require('node:worker_threads');
    parentPort.once('message', () => {
      parentPort.postMessage('the answer');
      Atomics.store(workerData, 0, 1);
      Atomics.notify(workerData, 0);
    });
    parentPort.postMessage('ready');`;
  const worker = new Worker(source, { eval: true, workerData: shared });
  context.after(() => worker.terminate());
  await once(worker, 'message');
  const answer = once(worker, 'message');
  // Timers come next in the turn of the event loop, then messages.
  await new Promise((resolve) => setImmediate(resolve));
  const wait = waitFor(answer, 30);
  worker.postMessage('a question');
  assert.notEqual(Atomics.wait(shared, 0, 0, longMs), 'timed-out');
  const blockedSinceMs = performance.now();
  while (performance.now() - blockedSinceMs < 60);
  assert.deepEqual(await wait, ['the answer']);
});
