import assert from 'node:assert/strict';
import { getEventListeners } from 'node:events';
import { test } from 'node:test';

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
