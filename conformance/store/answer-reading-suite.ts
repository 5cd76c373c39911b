import assert from 'node:assert/strict';
import { after, test } from 'node:test';

import { bucketsBetween } from '../../src/billing/statistics/buckets-between.ts';
import type { Granularity } from '../../src/billing/statistics/granularity.ts';
import type { AnswerSource, StatisticsQuery, StatisticsRow } from '../../src/billing/statistics/statistics-store.ts';
import { createAnswerReader, snapshotMsMax } from '../../src/store/reading/answer-reader.ts';
import { fillStatistics, filledFromSeconds } from '../support/fill-statistics.ts';
import { createEntry } from './call-entries.ts';
import { useEngine } from './store-under-test.ts';
import type { StoreUnderTest } from './store-under-test.ts';

const day = 86_400;
const shape = { users: 40, keys: 4, models: 10, days: 35, minutes: 12 };
const groups = shape.users * shape.keys * shape.models;
/** After all records that are inserted. */
const laterMs = (filledFromSeconds + 400 * day) * 1000;

function queryOf(granularity: Granularity, startSeconds: number, endSeconds: number, more: Partial<StatisticsQuery> = {}): StatisticsQuery {
  const buckets = bucketsBetween({ granularity, startSeconds, endSeconds, timeZone: 'UTC', bucketsMax: 50_000 });
  return { buckets, startSeconds, endSeconds, rowsMax: 1_000_000, ...more };
}

async function readAll(reading: AnswerSource, query: StatisticsQuery): Promise<{ rows: StatisticsRow[]; batches: number[] }> {
  const [rows, batches]: [StatisticsRow[], number[]] = [[], []];
  for await (const batch of reading.readRows(query)) {
    batches.push(batch.length);
    rows.push(...batch);
  }
  return { rows, batches };
}

/** The contract of every store for an answer that is read in pieces. */
export function answerReadingSuite(open: () => Promise<StoreUnderTest>): void {
  let isFilled: Promise<void> | undefined;
  const engine = useEngine(open);
  const fill = async (): Promise<void> => {
    for (const statement of fillStatistics(shape)) await engine().tamper(statement);
  };
  const readings: AnswerSource[] = [];
  const openSource = async (snapshotMs = snapshotMsMax): Promise<AnswerSource> => {
    await (isFilled ??= fill());
    const reading = createAnswerReader(engine().openSnapshots(), snapshotMs).openSource();
    readings.push(reading);
    return reading;
  };
  after(() => Promise.all(readings.map((reading) => reading.close())));

  const end = filledFromSeconds + shape.days * day;
  const questions: readonly (readonly [string, StatisticsQuery])[] = [
    ['by day', queryOf(3, filledFromSeconds, end)],
    ['by minute', queryOf(1, filledFromSeconds, filledFromSeconds + shape.minutes * 60)],
    ['by minute, cut', queryOf(1, filledFromSeconds + 7, filledFromSeconds + 61)],
    ['by week: more rows per bucket than per page', queryOf(4, filledFromSeconds, end)],
    ['by month: the same, with days that the query cuts', queryOf(5, filledFromSeconds + 3600, end - 3600)],
    ['by month, for one key name', queryOf(5, filledFromSeconds, end, { tokenName: 'key-0001' })],
    ['by week, for one user', queryOf(4, filledFromSeconds, end, { userName: 'user-0007' })],
    ['by day, for one model', queryOf(3, filledFromSeconds, end, { modelName: 'model-2025-0003' })],
    ['of nobody', queryOf(3, filledFromSeconds, end, { userName: 'nobody' })],
  ];
  for (const [name, query] of questions) {
    test(`an answer that is read in pages is the same as one that is read at once, and no page is large: ${name}`, async () => {
      const reading = await openSource();
      const { rows, batches } = await readAll(reading, query);
      const whole = await engine().store().queryStatistics(query);
      assert.deepEqual(rows, whole);
      assert.ok(Math.max(0, ...batches) <= 30_000, `${Math.max(...batches)} rows in a page`);
      assert.equal(await reading.hasTooManyRecords({ ...query, rowsMax: whole.length }), false);
      if (whole.length > 0) assert.equal(await reading.hasTooManyRecords({ ...query, rowsMax: whole.length - 1 }), true);
      const callCount = whole.reduce((sum, row) => sum + row.callCount, 0);
      assert.equal(await reading.countCalls(query), callCount);
    });
  }

  test('each record of a bucket that is read in parts exists once, and sums are complete', async () => {
    const { rows } = await readAll(await openSource(), queryOf(5, filledFromSeconds, filledFromSeconds + 31 * day));
    assert.equal(rows.length, groups);
    assert.equal(new Set(rows.map(({ userName, tokenName, modelName }) => `${userName} ${tokenName} ${modelName}`)).size, groups);
    // 800 and the number of the day, for each of 31 days.
    assert.ok(rows.every(({ promptTokens }) => promptTokens === 31 * 800 + (31 * 30) / 2));
  });

  test('rows that are booked during a reading are not in it, as long as its snapshot is held', async () => {
    const reading = await openSource();
    const query = queryOf(3, filledFromSeconds, laterMs / 1000 + day, { tokenName: 'ci' });
    const pages = reading.readRows(queryOf(3, filledFromSeconds, end))[Symbol.asyncIterator]();
    await pages.next();
    await engine()
      .store()
      .appendEntries([createEntry('booked-meanwhile', { acceptedAtMs: laterMs })]);
    assert.equal(await reading.countCalls(query), 0);
    await pages.return?.();
    assert.equal(await (await openSource()).countCalls(query), 1);
  });

  test('a reader slower than the snapshot limit misses no row and reads none twice while others write', async () => {
    const reading = await openSource(1);
    const query = queryOf(3, filledFromSeconds, end);
    const expected = await engine().store().queryStatistics(query);
    const rows: StatisticsRow[] = [];
    let pages = 0;
    for await (const batch of reading.readRows(query)) {
      rows.push(...batch);
      pages += 1;
      // Longer than the snapshot is held.
      await new Promise((resolve) => setTimeout(resolve, 5));
      await engine()
        .store()
        .appendEntries([createEntry(`meanwhile-${pages}`, { acceptedAtMs: laterMs + pages })]);
    }
    assert.ok(pages > 5, `${pages} pages`);
    assert.deepEqual(rows, expected);
  });

  test('a closed reading returns nothing more', async () => {
    const reading = await openSource();
    await reading.close();
    await assert.rejects(reading.countCalls(queryOf(3, filledFromSeconds, end)), { kind: 'unavailable' });
  });
}
