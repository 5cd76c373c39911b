import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import { bucketsBetween } from '../../src/billing/statistics/buckets-between.ts';
import type { BilledCall } from '../../src/billing/statistics/billed-call.ts';
import type { Granularity } from '../../src/billing/statistics/granularity.ts';
import type { StatisticsQuery } from '../../src/billing/statistics/statistics-store.ts';
import { usualOrLong } from '../support/scale.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { sumStatistics } from './sum-statistics.ts';

const zones = ['UTC', 'Asia/Shanghai', 'Europe/Berlin', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'America/Sao_Paulo'];
/** Clock changes of Berlin, Lord Howe and, in 2018, of Sao Paulo at midnight are within three weeks of these. */
const starts = ['2026-03-20T05:17:11Z', '2026-10-14T22:59:59Z', '2018-10-28T00:00:00Z'].map((text) => Date.parse(text));
const spanMs = 40 * 86_400_000;

type Question = {
  readonly granularity: Granularity;
  readonly timeZone: string;
  readonly from: number;
  readonly length: number;
  readonly whole: boolean;
};

/** The contract of every store for statistics over days, weeks and months. */
export function statisticsDaysSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  const questions: fc.Arbitrary<Question> = fc.record({
    granularity: fc.constantFrom<Granularity>(2, 3, 3, 4, 5),
    timeZone: fc.constantFrom(...zones),
    from: fc.nat(spanMs / 1000),
    length: fc.integer({ min: 1, max: spanMs / 1000 }),
    whole: fc.boolean(),
  });
  const names = fc.record(
    {
      tokenName: fc.constantFrom('ci', 'CI'),
      modelName: fc.constantFrom('m-flash', 'm-🐟', 'absent'),
      userName: fc.constantFrom('alice', 'bob'),
    },
    { requiredKeys: [], noNullPrototype: true },
  );

  test('M15: statistics equal the ledger for any entries, also late ones, whatever the zone of the days and of the query', async () => {
    let run = 0;
    const scenario = fc.record({
      start: fc.constantFrom(...starts),
      entries: callEntries({ prefix: 'days', startMs: 0, spanMs, max: 40 }),
      batch: fc.integer({ min: 1, max: 40 }),
      // Before each batch the days may get another zone, as by a restart with another configuration.
      kept: fc.array(fc.option(fc.constantFrom(...zones), { nil: undefined }), { minLength: 1, maxLength: 4 }),
      asked: fc.array(fc.tuple(questions, names), { minLength: 1, maxLength: 4 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async (drawn) => {
        run += 1;
        const store = engine().store();
        // Entries come in no order of time: all but the first batch are late for some day. Names distinguish the runs.
        const entries = drawn.entries.map((entry) => ({
          ...entry,
          callId: `${entry.callId}-${run}`,
          userName: `${entry.userName}-${run}`,
          acceptedAtMs: entry.acceptedAtMs + drawn.start,
        }));
        for (let at = 0, part = 0; at < entries.length; at += drawn.batch, part += 1) {
          const zone = drawn.kept[part % drawn.kept.length];
          if (zone !== undefined) await store.sumDaysOf(zone);
          await store.appendEntries(entries.slice(at, at + drawn.batch));
        }
        const users = new Set(entries.map((entry) => entry.userName));
        for (const [question, filter] of drawn.asked) {
          const base = createQuery(question, drawn.start);
          for (const userName of filter.userName === undefined ? users : [`${filter.userName}-${run}`]) {
            const query = { ...base, ...filter, userName };
            assert.deepEqual(await store.queryStatistics({ ...query, rowsMax: 10_000 }), sumStatistics(entries, query));
          }
        }
      }),
      { numRuns: usualOrLong(6, 40) },
    );
  });

  test('a row that is booked after its days got another zone counts in the new days, from any handle', async () => {
    const stores = [engine().store(), await engine().openAnother()] as const;
    const startMs = Date.UTC(2026, 5, 1);
    const entries = Array.from({ length: 60 }, (_, index) =>
      createEntry(`handles-${index}`, { userName: 'handles', acceptedAtMs: startMs + index * 3_600_000 }),
    );
    await stores[0].sumDaysOf('UTC');
    await Promise.all([
      ...Array.from({ length: 20 }, (_, batch) => stores[batch % 2 === 0 ? 0 : 1].appendEntries(entries.slice(batch * 3, batch * 3 + 3))),
      stores[0].sumDaysOf('Asia/Shanghai'),
    ]);
    assert.equal(await stores[1].sumDaysOf('Asia/Shanghai'), false);
    for (const timeZone of ['UTC', 'Asia/Shanghai']) {
      const query = {
        ...createQuery({ granularity: 3, timeZone, from: 0, length: 4 * 86_400, whole: true }, startMs),
        userName: 'handles',
      };
      for (const store of stores) assert.deepEqual(await store.queryStatistics({ ...query, rowsMax: 100 }), sumStatistics(entries, query));
    }
  });

  test('partly summed days are continued, and statistics are correct meanwhile, also for newly booked rows', async () => {
    const store = engine().store();
    const startMs = Date.UTC(2026, 6, 1);
    const dayMs = 86_400_000;
    const names = { userName: 'parts' };
    const entries = Array.from({ length: 48 }, (_, index) =>
      createEntry(`parts-${index}`, { ...names, acceptedAtMs: startMs + index * (dayMs / 8) }),
    );
    await store.sumDaysOf('Asia/Kathmandu');
    await store.appendEntries(entries.slice(0, 40));
    // The state that a process leaves when it dies during the work: earlier days are of another zone.
    const from = bucketsBetween({
      granularity: 3,
      startSeconds: startMs / 1000 + 3 * 86_400,
      endSeconds: startMs / 1000 + 4 * 86_400,
      timeZone: 'Asia/Kathmandu',
      bucketsMax: 9,
    });
    const fromMinute = (from[1]?.startSeconds ?? assert.fail()) / 60;
    await engine().tamper(`update usage_days set call_count = call_count + 7 where day < ${fromMinute}`);
    await engine().tamper(`update usage_day_zone set from_minute = ${fromMinute}`);
    const later = entries.slice(40).map((entry, index) => (index % 2 === 0 ? entry : { ...entry, acceptedAtMs: startMs + index }));
    await store.appendEntries(later);
    const booked = [...entries.slice(0, 40), ...later];
    const check = async (): Promise<void> => {
      for (const timeZone of ['Asia/Kathmandu', 'UTC']) {
        const query = { ...createQuery({ granularity: 3, timeZone, from: 0, length: 7 * 86_400, whole: true }, startMs), ...names };
        assert.deepEqual(await store.queryStatistics({ ...query, rowsMax: 100 }), sumStatistics(booked, query));
      }
    };
    await check();
    assert.equal(await store.sumDaysOf('Asia/Kathmandu'), true);
    await check();
    assert.equal(await store.sumDaysOf('Asia/Kathmandu'), false);
  });

  test("calls are listed in order, page by page, add up to the statistics, and are only their user's", async () => {
    const store = engine().store();
    const startMs = Date.UTC(2026, 7, 1);
    const entries = Array.from({ length: 25 }, (_, index) =>
      createEntry(`list-${String(index).padStart(2, '0')}`, {
        userName: index % 5 === 4 ? 'lister-2' : 'lister',
        acceptedAtMs: startMs + Math.floor(index / 3) * 1000,
        end: index % 7 === 6 ? 'failed' : index % 2 === 0 ? 'finished' : 'cut',
        estimated: index % 2 === 1,
        priceVersion: index < 10 ? 'book "1"' : 'book-2',
        ...(index % 4 === 3 ? { parentCallId: `list-${index - 1}` } : {}),
      }),
    );
    await store.appendEntries(entries.toReversed());
    const filter = { startMs: startMs + 1000, endMs: startMs + 7000, userName: 'lister' };
    const listed: BilledCall[] = [];
    for (let after; ;) {
      const page = await store.listBilledCalls({ ...filter, ...(after === undefined ? {} : { after }), limit: 4 });
      listed.push(...page);
      after = page.at(-1);
      if (page.length < 4) break;
    }
    const expected = entries.filter(
      (entry) =>
        entry.userName === 'lister' && entry.end !== 'failed' && entry.acceptedAtMs >= filter.startMs && entry.acceptedAtMs < filter.endMs,
    );
    assert.deepEqual(
      listed.map(({ callId, callCount, estimated, end, priceVersion }) => ({ callId, callCount, estimated, end, priceVersion })),
      expected.map(({ callId, parentCallId, estimated, end, priceVersion }) => ({
        callId,
        callCount: parentCallId === undefined ? 1 : 0,
        estimated,
        end,
        priceVersion,
      })),
    );
    const bucket = { startSeconds: startMs / 1000, endSeconds: startMs / 1000 + 60 };
    const [row] = await store.queryStatistics({
      buckets: [bucket],
      startSeconds: filter.startMs / 1000,
      endSeconds: filter.endMs / 1000,
      userName: 'lister',
      rowsMax: 5,
    });
    const sum = (read: (call: (typeof listed)[number]) => number): number => listed.reduce((total, call) => total + read(call), 0);
    assert.deepEqual(
      [row?.callCount, row?.promptTokens, row?.completionTokens, row?.useTimeMs, row?.amountNanoUsd],
      [
        sum((call) => call.callCount),
        sum((call) => call.promptTokens),
        sum((call) => call.completionTokens),
        sum((call) => call.useTimeMs),
        listed.reduce((total, call) => total + call.amountNanoUsd, 0n),
      ],
    );
    assert.deepEqual(await store.listPriceVersions({ startMs, endMs: startMs + 1, userName: 'lister' }), ['book "1"', 'book-2']);
    assert.deepEqual(await store.listPriceVersions({ startMs: startMs - 86_400_000, endMs: startMs, userName: 'lister' }), []);
    assert.deepEqual(await store.listPriceVersions({ startMs, endMs: startMs + 1, userName: 'nobody' }), []);
  });
}

function createQuery({ granularity, timeZone, from, length, whole }: Question, startMs: number): Omit<StatisticsQuery, 'rowsMax'> {
  const startSeconds = Math.floor(startMs / 1000) + from;
  const endSeconds = startSeconds + length;
  const buckets = bucketsBetween({ granularity, startSeconds, endSeconds, timeZone, bucketsMax: 5000 });
  const [first, last] = [buckets[0]?.startSeconds ?? startSeconds, buckets.at(-1)?.endSeconds ?? endSeconds];
  return { buckets, startSeconds: whole ? first : startSeconds, endSeconds: whole ? last : endSeconds };
}
