import assert from 'node:assert/strict';
import { test } from 'node:test';

import fc from 'fast-check';

import type { StatisticsQuery } from '../../src/billing/statistics/statistics-store.ts';
import { usualOrLong } from '../support/scale.ts';
import { callEntries, createEntry } from './call-entries.ts';
import { hostileNames } from './hostile-names.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';
import { startMs, startSeconds } from './suite-start.ts';
import { sumStatistics } from './sum-statistics.ts';

/** The contract of every store for statistics. */
export function statisticsSuite(open: () => Promise<StoreUnderTest>): void {
  const engine = useEngine(open);

  /** Whole-minute buckets of random widths that cover a span, a query that cuts them, and filters. */
  const queries = (fromSeconds: number, spanSeconds: number): fc.Arbitrary<Omit<StatisticsQuery, 'rowsMax'>> =>
    fc
      .record({
        widths: fc.array(fc.integer({ min: 1, max: 400 }), { minLength: 1, maxLength: 12 }),
        offset: fc.integer({ min: 0, max: Math.floor(spanSeconds / 2) }),
        length: fc.integer({ min: 1, max: spanSeconds }),
        cut: fc.boolean(),
        tokenName: fc.option(fc.constantFrom('ci', 'CI', `o'brien`), { nil: undefined }),
        modelName: fc.option(fc.constantFrom('m-flash', 'm-🐟', 'absent'), { nil: undefined }),
        userName: fc.option(fc.constantFrom('alice', 'bob'), { nil: undefined }),
      })
      .map(({ widths, offset, length, cut, ...names }) => {
        const start = cut ? fromSeconds + offset : fromSeconds;
        const end = start + (cut ? length : spanSeconds);
        const buckets: { startSeconds: number; endSeconds: number }[] = [];
        for (let at = Math.floor(start / 60) * 60, index = 0; at < end; index += 1) {
          const width = (widths[index % widths.length] ?? 1) * 60;
          buckets.push({ startSeconds: at, endSeconds: at + width });
          at += width;
        }
        const filters = Object.fromEntries(Object.entries(names).filter(([, value]) => value !== undefined));
        return { buckets, startSeconds: start, endSeconds: end, ...filters };
      });

  test('M15: statistics equal the ledger for any entries, partition, cut and filter, for any order and repetition of shipments', async () => {
    const spanMs = 5 * 3_600_000;
    let run = 0;
    const scenario = fc.record({
      entries: callEntries({ prefix: 'm15', startMs: 0, spanMs, max: 60 }),
      queries: fc.array(queries(0, spanMs / 1000), { minLength: 1, maxLength: 4 }),
      again: fc.array(fc.nat(59), { maxLength: 30 }),
      batch: fc.integer({ min: 1, max: 60 }),
    });
    await fc.assert(
      fc.asyncProperty(scenario, async (drawn) => {
        // Every run has a span of time of its own in the same database; 7 days separate them.
        const shiftMs = startMs + (run += 1) * 7 * 86_400_000;
        const entries = drawn.entries.map((entry) => ({
          ...entry,
          callId: `${entry.callId}-${run}`,
          acceptedAtMs: entry.acceptedAtMs + shiftMs,
        }));
        const store = engine().store();
        let added = 0;
        for (let at = 0; at < entries.length; at += drawn.batch) added += await store.appendEntries(entries.slice(at, at + drawn.batch));
        assert.equal(added, entries.length);
        const again = drawn.again.flatMap((index) => entries[index] ?? []);
        assert.equal(await store.appendEntries([...again, ...again]), 0);
        for (const query of drawn.queries) {
          const shifted = shiftQuery(query, shiftMs / 1000);
          assert.deepEqual(await store.queryStatistics({ ...shifted, rowsMax: 10_000 }), sumStatistics(entries, shifted));
        }
      }),
      { numRuns: usualOrLong(10, 60) },
    );
  });

  test('two handles that simultaneously append overlapping batches book every call once', async () => {
    const stores = [engine().store(), await engine().openAnother()];
    const entries = Array.from({ length: 400 }, (_, index) =>
      createEntry(`race-${index}`, { userName: 'race', acceptedAtMs: startMs + index * 1000 }),
    );
    const appended = await Promise.all(
      Array.from({ length: 40 }, (_, batch) =>
        (stores[batch % 2] ?? assert.fail()).appendEntries(entries.slice(Math.floor(batch / 2) * 20, Math.floor(batch / 2) * 20 + 40)),
      ),
    );
    assert.equal(
      appended.reduce((sum, added) => sum + added, 0),
      400,
    );
    const query = oneBucket('race', 3600);
    assert.deepEqual(
      await engine()
        .store()
        .queryStatistics({ ...query, rowsMax: 10 }),
      sumStatistics(entries, query),
    );
  });

  test('a failed call is not counted, a call in the first millisecond is, and one in the last is not', async () => {
    const store = engine().store();
    const minute = { userName: 'edges', usage: { outputTokens: 1 } };
    await store.appendEntries([
      createEntry('edge-first', { ...minute, acceptedAtMs: startMs }),
      createEntry('edge-last', { ...minute, acceptedAtMs: startMs + 59_999 }),
      createEntry('edge-next', { ...minute, acceptedAtMs: startMs + 60_000 }),
      createEntry('edge-failed', { ...minute, acceptedAtMs: startMs, end: 'failed' }),
    ]);
    const buckets = [{ startSeconds, endSeconds: startSeconds + 60 }];
    const counts = async (from: number, until: number): Promise<number | undefined> => {
      const rows = await store.queryStatistics({ buckets, startSeconds: from, endSeconds: until, userName: 'edges', rowsMax: 5 });
      return rows[0]?.callCount;
    };
    assert.equal(await counts(startSeconds, startSeconds + 60), 2);
    assert.equal(await counts(startSeconds, startSeconds + 59), 1);
    assert.equal(await counts(startSeconds + 1, startSeconds + 60), 1);
    assert.equal(await counts(startSeconds + 1, startSeconds + 59), undefined);
    assert.equal(await counts(startSeconds - 3600, startSeconds + 3600), 2);
  });

  test('one row more than the maximum shows that there are more', async () => {
    const store = engine().store();
    await store.appendEntries(
      [1, 2, 3, 4].map((number) => createEntry(`rows-${number}`, { userName: 'rows', requestedModel: `m-${number}` })),
    );
    const query = oneBucket('rows', 60);
    assert.equal((await store.queryStatistics({ ...query, rowsMax: 2 })).length, 3);
    assert.equal((await store.queryStatistics({ ...query, rowsMax: 4 })).length, 4);
    assert.deepEqual(await store.queryStatistics({ ...query, buckets: [], rowsMax: 4 }), []);
  });

  test('hostile names are data in rows and filters, sorted by code point', async () => {
    const store = engine().store();
    const entries = hostileNames.map((hostile, index) =>
      createEntry(`hostile-${index}`, { userName: 'hostile', keyName: hostile, requestedModel: hostile }),
    );
    await store.appendEntries(entries);
    const query = oneBucket('hostile', 60);
    assert.deepEqual(await store.queryStatistics({ ...query, rowsMax: 100 }), sumStatistics(entries, query));
    for (const hostile of hostileNames) {
      const rows = await store.queryStatistics({ ...query, tokenName: hostile, modelName: hostile, rowsMax: 100 });
      assert.deepEqual(
        rows.map((row) => row.tokenName),
        [hostile],
      );
    }
  });
}

/** A user's statistics of the first seconds, in one bucket. */
function oneBucket(userName: string, lengthSeconds: number): Omit<StatisticsQuery, 'rowsMax'> {
  const bucket = { startSeconds, endSeconds: startSeconds + lengthSeconds };
  return { ...bucket, buckets: [bucket], userName };
}

function shiftQuery<Query extends Omit<StatisticsQuery, 'rowsMax'>>(query: Query, seconds: number): Query {
  const buckets = query.buckets.map((bucket) => ({ startSeconds: bucket.startSeconds + seconds, endSeconds: bucket.endSeconds + seconds }));
  return { ...query, buckets, startSeconds: query.startSeconds + seconds, endSeconds: query.endSeconds + seconds };
}
