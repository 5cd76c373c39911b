import assert from 'node:assert/strict';
import { test } from 'node:test';

import { createIds } from '../../platform/ids.ts';
import type { CallEntry, CallOpening } from '../ledger/call-entry.ts';
import { createReceiptFinder } from './find-receipt.ts';

const opening: CallOpening = {
  callId: 'req_1',
  acceptedAtMs: 0,
  userName: 'alice',
  keyId: 'key_1',
  keyName: 'ci',
  dialect: 'openai-chat',
  requestedModel: 'm',
  upstream: 'u',
  vendor: 'openai',
  upstreamModel: 'm',
  stream: false,
  inputCharacters: 0,
  priceVersion: 'v',
};

function row(callId: string, more: Partial<CallEntry> = {}): CallEntry {
  const charge = { amountNanoUsd: 0n, lines: [] };
  const parent = callId === 'req_1' ? {} : { parentCallId: 'req_1' };
  return { ...opening, callId, ...parent, end: 'finished', usage: {}, estimated: false, durationMs: 1, charge, ...more };
}

type LedgerState = {
  readonly stored?: readonly CallEntry[];
  readonly pending?: readonly CallEntry[];
  readonly open?: CallOpening;
  readonly waiting?: number;
};

/** A finder whose store and journal return these states, one per query. */
function finderOf(...readings: readonly [LedgerState, ...LedgerState[]]) {
  let reading = 0;
  const now = (): LedgerState => readings[Math.min(reading, readings.length - 1)] ?? {};
  const finder = createReceiptFinder({
    store: { listCallRows: () => Promise.resolve(readings[Math.min(reading++, readings.length - 1)]?.stored ?? []) },
    journal: { findOpen: () => now().open, pendingRows: () => now().pending ?? [], pendingEntries: () => now().waiting ?? 0 },
    clock: { nowMs: () => 1_000_000 },
  });
  return {
    find: (isUnderWay = false, userName = 'alice', callId = 'req_1', signal = AbortSignal.timeout(30_000)) =>
      finder.find(callId, userName, isUnderWay, signal),
    readings: () => reading,
  };
}

test('a call that waits in the journal has a receipt at once, which says that it is not booked', async () => {
  for (const [state, booked] of [
    [{ stored: [row('req_1')] }, true],
    [{ pending: [row('req_1')] }, false],
    [{ stored: [row('req_1')], pending: [row('req_1')] }, true],
    [{ stored: [row('req_1')], pending: [row('req_1.2')] }, false],
  ] as const) {
    const found = await finderOf(state).find();
    assert.equal(found?.state === 'ended' && found.receipt.booked, booked, JSON.stringify(Object.keys(state)));
  }
});

test('rows are in order of creation, whether in the store or in the journal', async () => {
  const pending = [row('req_1.10'), row('req_1.2.tools'), row('req_1')];
  const found = await finderOf({ stored: [row('req_1.2')], pending }).find();
  assert.deepEqual(found?.state === 'ended' && found.receipt.rows.map(({ id }) => id), ['req_1', 'req_1.2', 'req_1.2.tools', 'req_1.10']);
});

test('a running call is in progress for its own user only', async () => {
  for (const [state, isUnderWay] of [
    [{ open: opening }, false],
    [{ pending: [row('req_1')] }, true],
    [{ stored: [row('req_1')], open: { ...opening, callId: 'req_1.2' } }, true],
  ] as const) {
    assert.equal((await finderOf(state).find(isUnderWay))?.state, 'in-progress');
    assert.equal(await finderOf(state).find(isUnderWay, 'bob'), undefined);
  }
});

test("another user's rows, and rows that only look like parts, are not found", async () => {
  assert.equal(await finderOf({ stored: [row('req_1')] }).find(false, 'bob'), undefined);
  assert.equal(await finderOf({ stored: [row('req_1.2')] }).find(), undefined);
  const foreign = [row('req_1'), row('req_1.2', { userName: 'bob' }), row('req_1.3', { parentCallId: 'req_2' })];
  const found = await finderOf({ stored: foreign }).find();
  assert.equal(found?.state === 'ended' && found.receipt.rows.length, 1);
});

test('a missing call of the last seconds is queried again, because another process may ship it; older ones are not', async () => {
  const recent = createIds({ nowMs: () => 999_000, monotonicMs: () => 0 })('req');
  const old = createIds({ nowMs: () => 900_000, monotonicMs: () => 0 })('req');
  const late = finderOf({}, {}, { stored: [row('req_1', { callId: recent })] });
  const { parentCallId: _parent, ...call } = row('req_1');
  const shipped = finderOf({}, {}, { stored: [{ ...call, callId: recent }] });
  assert.equal((await shipped.find(false, 'alice', recent))?.state, 'ended');
  assert.equal((await late.find(false, 'alice', recent))?.state, 'ended');
  const none = finderOf({});
  assert.equal(await none.find(false, 'alice', old), undefined);
  assert.equal(none.readings(), 1);
});

test('a call that was found, and an id without a time, are not queried again', async () => {
  const recent = createIds({ nowMs: () => 999_000, monotonicMs: () => 0 })('req');
  const { parentCallId: _parent, ...call } = row('req_1.1');
  const found = finderOf({ stored: [{ ...call, callId: recent }] });
  assert.equal((await found.find(false, 'alice', recent))?.state, 'ended');
  const nameless = finderOf({});
  assert.equal(await nameless.find(), undefined);
  assert.deepEqual([found.readings(), nameless.readings()], [1, 1]);
});

test('an aborted query ends at once', async () => {
  const recent = createIds({ nowMs: () => 999_000, monotonicMs: () => 0 })('req');
  const none = finderOf({});
  await assert.rejects(none.find(false, 'alice', recent, AbortSignal.abort()), { name: 'AbortError' });
  assert.equal(none.readings(), 1);
});

test('a row belongs to a call by its id, and must not be a part of another call', async () => {
  const { parentCallId: _parent, ...other } = row('req_1.2');
  assert.equal(await finderOf({ stored: [other] }).find(), undefined);
  assert.equal(await finderOf({ stored: [row('req_1', { parentCallId: 'req_0' })] }).find(), undefined);
});

test('a store that cannot be read, and a journal that is too long to search, are errors', async () => {
  const failing = createReceiptFinder({
    store: { listCallRows: () => Promise.reject(new Error('down')) },
    journal: { findOpen: () => undefined, pendingRows: () => [], pendingEntries: () => 0 },
    clock: { nowMs: () => 0 },
  });
  await assert.rejects(failing.find('req_1', 'alice', false, AbortSignal.timeout(1000)), /down/);
  await assert.rejects(finderOf({ waiting: 1_000_000 }).find(), /too many/);
});
