import assert from 'node:assert/strict';
import { test } from 'node:test';

import type { BilledCall, BilledCallPage } from './billed-call.ts';
import { readBilledCalls } from './billed-call-record.ts';

const filter = { startMs: 0, endMs: 10_000_000_000_000, userName: 'u' };

function call(acceptedAtMs: number, callId = 'c'): BilledCall {
  return {
    callId,
    acceptedAtMs,
    userName: 'u',
    tokenName: 't',
    modelName: 'm',
    promptTokens: 1,
    completionTokens: 2,
    cacheTokens: 3,
    cacheCreationTokens: 4,
    useTimeMs: 5,
    callCount: 1,
    amountNanoUsd: 1_500_000_000n,
    estimated: true,
    end: 'cut',
    priceVersion: 'v',
  };
}

/** Reads all records of a store with these calls, and collects the queries to the store. */
async function read(calls: readonly BilledCall[], timeZone = 'UTC') {
  const queries: BilledCallPage[] = [];
  const listBilledCalls = (page: BilledCallPage) => {
    queries.push(page);
    const first = page.after === undefined ? 0 : calls.findIndex(({ callId }) => callId === page.after?.callId) + 1;
    return Promise.resolve(calls.slice(first, first + page.limit));
  };
  const pages = await Array.fromAsync(readBilledCalls({ listBilledCalls }, filter, timeZone, new AbortController().signal));
  return { queries, records: pages.flat() };
}

test('a record has the values of its row, the amount in USD and the time in the time zone', async () => {
  const { records } = await read([call(Date.parse('2026-11-22T23:59:59.999Z'))], 'Asia/Kathmandu');
  assert.equal(
    JSON.stringify(records),
    '[{"requestId":"c","time":"2026-11-23 05:44:59","timeMs":1795391999999,"userName":"u","tokenName":"t","modelName":"m","promptTokens":1,' +
      '"completionTokens":2,"cacheTokens":3,"cacheCreationTokens":4,"useTimeMs":5,"callCount":1,"amount":1.5,"estimated":true,"end":"cut","priceVersion":"v"}]',
  );
});

test('rows on both sides of a clock change have the time that the clock showed', async () => {
  const times = ['2026-10-25T00:59:59Z', '2026-10-25T01:00:00Z', '2026-10-25T00:30:00Z', '2026-10-25T00:30:59Z'];
  const { records } = await read(
    times.map((time) => call(Date.parse(time))),
    'Europe/Berlin',
  );
  assert.deepEqual(
    records.map(({ time }) => time),
    ['2026-10-25 02:59:59', '2026-10-25 02:00:00', '2026-10-25 02:30:00', '2026-10-25 02:30:59'],
  );
});

for (const [count, pages] of [
  [0, 1],
  [1999, 1],
  [2000, 2],
  [4001, 3],
] as const)
  test(`${count} rows are read once each, in ${pages} pages that each continue after the last`, async () => {
    const { queries, records } = await read(Array.from({ length: count }, (_, index) => call(index, `c${index}`)));
    assert.deepEqual(
      records.map(({ requestId }) => requestId),
      Array.from({ length: count }, (_, index) => `c${index}`),
    );
    const after = (page: number) => ({ after: { acceptedAtMs: page * 2000 - 1, callId: `c${page * 2000 - 1}` } });
    assert.deepEqual(
      queries,
      Array.from({ length: pages }, (_, page) => ({ ...filter, ...(page > 0 && after(page)), limit: 2000 })),
    );
  });

test('an aborted query reads no page', async () => {
  const aborted = AbortSignal.abort(new Error('disconnected'));
  const listBilledCalls = () => assert.fail('a page was read');
  await assert.rejects(Array.fromAsync(readBilledCalls({ listBilledCalls }, filter, 'UTC', aborted)), /disconnected/);
});
