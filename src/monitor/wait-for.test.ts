import assert from 'node:assert/strict';
import { test } from 'node:test';
import { waitFor } from './wait-for.ts';

test('work that is done in time is what comes back', async () => {
  assert.equal(await waitFor(Promise.resolve(3), new AbortController().signal), 3);
  await assert.rejects(waitFor(Promise.reject(new Error('broken')), new AbortController().signal), /broken/);
});

test('an abort ends the wait, and a later failure of the work is of no account', async () => {
  const work = Promise.withResolvers<void>();
  const controller = new AbortController();
  const wait = waitFor(work.promise, controller.signal);
  controller.abort(new Error('too late'));
  await assert.rejects(wait, /too late/);
  work.reject(new Error('nobody waits'));
  await new Promise((resolve) => setImmediate(resolve));
});

test('a signal that had aborted before wins, even over work that fails at once', async () => {
  await assert.rejects(waitFor(Promise.reject(new Error('broken')), AbortSignal.abort(new Error('too late'))), /too late/);
});
