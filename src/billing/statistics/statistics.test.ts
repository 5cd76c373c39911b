import assert from 'node:assert/strict';
import { test } from 'node:test';
import fc from 'fast-check';
import { type BillingRecord, billingRecordFields } from './billing-record.ts';
import type { Granularity } from './granularity.ts';
import { type CountedCall, createMemoryStatisticsStore } from './testing/memory-statistics-store.ts';
import {
  StatisticsRefusedError,
  StatisticsUnavailableError,
  createStatistics,
  statisticsLimitsDefault,
  type StatisticsRequest,
} from './statistics.ts';

const dayStart = Date.parse('2026-01-26T16:00:00Z') / 1000;

function call(changes: Partial<CountedCall> = {}): CountedCall {
  return {
    acceptedAtMs: dayStart * 1000,
    userName: 'alice',
    tokenName: 'ci',
    modelName: 'm-flash',
    promptTokens: 1200,
    completionTokens: 340,
    cacheTokens: 800,
    cacheCreationTokens: 7,
    useTimeMs: 999,
    amountNanoUsd: 1_230_000n,
    ...changes,
  };
}

async function ask(
  calls: readonly CountedCall[],
  request: Partial<StatisticsRequest> = {},
  scope: { userName?: string } = {},
): Promise<BillingRecord[]> {
  const statistics = createStatistics({ store: createMemoryStatisticsStore(calls), timeZone: 'Asia/Shanghai' });
  return [...(await statistics.query({ granularity: 3, startSeconds: dayStart, endSeconds: dayStart + 2 * 86_400, ...request }, scope))];
}

test('a record has exactly the fields of the contract, in its order', async () => {
  const records = await ask([call(), call({ useTimeMs: 1500 })]);
  assert.equal(
    JSON.stringify(records),
    '[{"time":"2026-01-27 00:00:00","timeGroup":1769443200,"userName":"alice","tokenName":"ci","modelName":"m-flash",' +
      '"totalPromptTokens":2400,"totalCompletionTokens":680,"totalCacheTokens":1600,"totalCacheCreationTokens":14,' +
      '"totalUseTime":2,"callCount":2,"totalAmount":0.00246}]',
  );
  assert.deepEqual(Object.keys(records[0] ?? {}), billingRecordFields);
});

test('a tiny amount has no exponent in the JSON text, and a huge one keeps every digit', async () => {
  const text = JSON.stringify(
    await ask([call({ amountNanoUsd: 1n }), call({ tokenName: 'x', amountNanoUsd: 98_765_432_109_876_543_211n })]),
  );
  assert.match(text, /"totalAmount":0\.000000001}/);
  assert.match(text, /"totalAmount":98765432109\.876543211}/);
});

test('milliseconds are added before the division, so a thousand fast calls are neither 0 nor 1000 seconds', async () => {
  const records = await ask(Array.from({ length: 1000 }, () => call({ useTimeMs: 4 })));
  assert.equal(records[0]?.totalUseTime, 4);
});

test('the start of the interval is included, its end is not', async () => {
  const at = (seconds: number, tokenName: string) => call({ acceptedAtMs: seconds * 1000, tokenName });
  const records = await ask([at(dayStart, 'first'), at(dayStart + 2 * 86_400, 'end'), at(dayStart - 1, 'before')]);
  assert.deepEqual(
    records.map((record) => record.tokenName),
    ['first'],
  );
});

test('a first bucket that is cut counts only calls inside the interval and keeps its own start', async () => {
  const calls = [call({ acceptedAtMs: (dayStart + 10) * 1000 }), call({ acceptedAtMs: (dayStart + 7200) * 1000 })];
  const records = await ask(calls, { startSeconds: dayStart + 3600 });
  assert.deepEqual(
    records.map(({ timeGroup, callCount }) => ({ timeGroup, callCount })),
    [{ timeGroup: dayStart, callCount: 1 }],
  );
});

test('a scope shows one user only, and filters are exact and case-sensitive', async () => {
  const calls = [call(), call({ userName: 'bob' }), call({ tokenName: 'CI' }), call({ modelName: 'm-flash-2' })];
  assert.equal((await ask(calls)).length, 4);
  assert.equal((await ask(calls, {}, { userName: 'bob' })).length, 1);
  assert.equal((await ask(calls, { tokenName: 'CI' })).length, 1);
  assert.equal((await ask(calls, { modelName: 'm-flash' })).length, 3);
  assert.equal((await ask(calls, { modelName: 'm%' })).length, 0);
});

test('a query to the store has the requested values, and no names that were not given', async () => {
  const queries: unknown[] = [];
  const queryStatistics = (query: unknown) => {
    queries.push(query);
    return Promise.resolve([]);
  };
  const statistics = createStatistics({ store: { queryStatistics }, timeZone: 'UTC', limits: { ...statisticsLimitsDefault, rowsMax: 7 } });
  assert.equal(statistics.timeZone, 'UTC');
  const span = { startSeconds: 90, endSeconds: 120 };
  const buckets = [{ startSeconds: 60, endSeconds: 120 }];
  await statistics.query({ granularity: 1, ...span }, {});
  await statistics.query({ granularity: 1, ...span, tokenName: 't', modelName: 'm' }, { userName: 'u' });
  assert.deepEqual(queries, [
    { buckets, ...span, rowsMax: 7 },
    { buckets, ...span, tokenName: 't', modelName: 'm', userName: 'u', rowsMax: 7 },
  ]);
});

test('totals are the sums of the shown records', async () => {
  const store = createMemoryStatisticsStore([
    call({ useTimeMs: 1999 }),
    call({ useTimeMs: 999 }),
    call({ tokenName: 'b', useTimeMs: 1999 }),
  ]);
  const records = await createStatistics({ store, timeZone: 'UTC' }).query(
    { granularity: 1, startSeconds: dayStart, endSeconds: dayStart + 60 },
    {},
  );
  assert.deepEqual(
    [...records].map(({ totalUseTime }) => totalUseTime),
    [1, 2],
  );
  assert.equal(
    JSON.stringify(records.totals()),
    '{"totalPromptTokens":3600,"totalCompletionTokens":1020,"totalCacheTokens":2400,"totalCacheCreationTokens":21,' +
      '"totalUseTime":3,"callCount":3,"totalAmount":0.00369}',
  );
});

test('each bucket has its own time', async () => {
  const calls = [0, 86_400].map((second) => call({ acceptedAtMs: (dayStart + second) * 1000 }));
  assert.deepEqual(
    (await ask(calls)).map(({ time }) => time),
    ['2026-01-27 00:00:00', '2026-01-28 00:00:00'],
  );
});

test('an interval that ends before or at its start is refused', async () => {
  for (const seconds of [0, -1])
    await assert.rejects(ask([], { endSeconds: dayStart + seconds }), {
      name: 'StatisticsRefusedError',
      message: 'startTime must be before endTime',
    });
});

test('rows of a store that ignores the scope are never shown', async () => {
  const store = createMemoryStatisticsStore([call(), call({ userName: 'bob' })]);
  const forgetful = createStatistics({
    store: { queryStatistics: ({ userName: _dropped, ...query }) => store.queryStatistics(query) },
    timeZone: 'UTC',
  });
  await assert.rejects(
    forgetful.query({ granularity: 3, startSeconds: dayStart, endSeconds: dayStart + 60 }, { userName: 'bob' }),
    /outside the scope/,
  );
});

test('sums over any partition of time, by any granularity, zone and split point, equal the sum of the calls', async () => {
  const calls = fc.array(
    fc.record({
      second: fc.integer({ min: 0, max: 6 * 86_400 }),
      tokenName: fc.constantFrom('a', 'b'),
      amountNanoUsd: fc.bigInt({ min: 0n, max: 10n ** 12n }),
    }),
    { maxLength: 30 },
  );
  const cuts = fc.array(fc.integer({ min: 1, max: 6 * 86_400 }), { maxLength: 4 });
  const zone = fc.constantFrom('UTC', 'Asia/Kathmandu', 'Europe/Berlin', 'Australia/Lord_Howe');
  // Both clock changes of Berlin and Lord Howe are within three days of these.
  const start = fc
    .constantFrom('2026-03-27T05:17:11Z', '2026-10-22T22:59:59Z', '2026-04-03T00:00:00Z')
    .map((text) => Date.parse(text) / 1000);
  await fc.assert(
    fc.asyncProperty(
      calls,
      cuts,
      zone,
      start,
      fc.constantFrom<Granularity>(2, 3, 4, 5),
      async (calls, cutAt, timeZone, first, granularity) => {
        const store = createMemoryStatisticsStore(
          calls.map(({ second, ...rest }) => call({ ...rest, acceptedAtMs: (first + second) * 1000 + 999 })),
        );
        const statistics = createStatistics({ store, timeZone });
        const points = [0, ...cutAt.toSorted((a, b) => a - b), 6 * 86_400 + 1];
        let callCount = 0;
        let picoUsd = 0n;
        for (let index = 1; index < points.length; index += 1) {
          const [from = 0, to = 0] = [points[index - 1], points[index]];
          if (from === to) continue;
          for (const record of await statistics.query({ granularity, startSeconds: first + from, endSeconds: first + to }, {})) {
            callCount += record.callCount;
            const [whole = '', fraction = ''] = record.totalAmount.rawJSON.split('.');
            picoUsd += BigInt(whole + fraction.padEnd(9, '0'));
          }
        }
        assert.equal(callCount, calls.length);
        assert.equal(
          picoUsd,
          calls.reduce((sum, { amountNanoUsd }) => sum + amountNanoUsd, 0n),
        );
      },
    ),
    { numRuns: 60 },
  );
});

test('a range beyond its limit is refused with the limit and the granularity in the message', async () => {
  const days = (count: number) => ({ endSeconds: dayStart + count * 86_400 });
  await ask([], { granularity: 1, ...days(7) });
  await ask([], { granularity: 2, ...days(93) });
  await ask([], { granularity: 5, ...days(1096) });
  await assert.rejects(
    ask([], { granularity: 1, endSeconds: dayStart + 7 * 86_400 + 1 }),
    /more than 7 days apart, the limit for type 1 \(minute\)/,
  );
  await assert.rejects(ask([], { granularity: 2, ...days(94) }), /93 days apart, the limit for type 2 \(hour\)/);
  await assert.rejects(ask([], { granularity: 4, ...days(1097) }), /1096 days apart, the limit for type 4 \(week\)/);
});

test('a local week of 169 hours is within seven days', async () => {
  const statistics = createStatistics({ store: createMemoryStatisticsStore([]), timeZone: 'Europe/Berlin' });
  const startSeconds = Date.parse('2026-10-18T22:00:00Z') / 1000;
  assert.equal((await statistics.query({ granularity: 1, startSeconds, endSeconds: startSeconds + 169 * 3600 }, {})).count, 0);
});

test('more buckets or more records than allowed are refused', async () => {
  const store = createMemoryStatisticsStore([call(), call({ tokenName: 'b' }), call({ tokenName: 'c' })]);
  const query = { granularity: 1, startSeconds: dayStart, endSeconds: dayStart + 600 } as const;
  const fewRows = createStatistics({ store, timeZone: 'UTC', limits: { ...statisticsLimitsDefault, rowsMax: 2 } });
  await assert.rejects(
    fewRows.query(query, {}),
    (error) => error instanceof StatisticsRefusedError && /more than 2 records/.test(error.message),
  );
  const enoughRows = createStatistics({ store, timeZone: 'UTC', limits: { ...statisticsLimitsDefault, rowsMax: 3 } });
  assert.equal((await enoughRows.query(query, {})).count, 3);
  const fewBuckets = createStatistics({ store, timeZone: 'UTC', limits: { ...statisticsLimitsDefault, bucketsMax: 9 } });
  await assert.rejects(fewBuckets.query(query, {}), /more than 9 buckets of type 1 \(minute\)/);
});

test('a failing store and a bad request are different errors, with their causes', async () => {
  const cause = new Error('connection refused');
  const statistics = createStatistics({ store: { queryStatistics: () => Promise.reject(cause) }, timeZone: 'UTC' });
  await assert.rejects(
    statistics.query({ granularity: 3, startSeconds: 0, endSeconds: 60 }, {}),
    (error) =>
      error instanceof StatisticsUnavailableError &&
      error.cause === cause &&
      String(error) === 'StatisticsUnavailableError: The statistics store did not answer.',
  );
});

test('an unknown time zone is refused at once, by name', () => {
  assert.throws(
    () => createStatistics({ store: createMemoryStatisticsStore([]), timeZone: 'Mars/Olympus' }),
    /"Mars\/Olympus" is not a time zone/,
  );
});
