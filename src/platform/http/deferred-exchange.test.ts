import assert from 'node:assert/strict';
import { test } from 'node:test';

import { DeferredExchange } from './deferred-exchange.ts';

const handler = {
  onRequestStart: () => {},
  onResponseStart: () => {},
  onResponseData: () => {},
  onResponseEnd: () => {},
  onResponseError: () => {},
};

test('the signal of an exchange aborts with the reason of its handler, whether it was asked for before or after', () => {
  const reason = new Error('the client has disconnected');
  const before = new DeferredExchange(handler);
  const { signal } = before;
  assert.equal(signal.aborted, false);
  before.abort(reason);
  const after = new DeferredExchange(handler);
  after.abort(reason);
  assert.deepEqual([signal.reason, before.signal, after.signal.reason], [reason, signal, reason]);
});
