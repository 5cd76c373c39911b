import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test, type TestContext } from 'node:test';

import { bookedCalls, createBatches } from '../../bench/book-entries.ts';
import { busyYear, fillRollUps } from '../../bench/fill-roll-ups.ts';
import { createStatistics } from '../../src/billing/statistics/statistics.ts';
import { createLedgerOperations } from '../../src/store/operations/ledger-operations.ts';
import { unpackRows } from '../../src/store/operations/packed-rows.ts';
import { createStatisticsOperations } from '../../src/store/operations/statistics-operations.ts';
import { createSqliteDatabase } from '../../src/store/sqlite/sqlite-database.ts';
import { openStoreDatabase } from '../../src/store/sqlite/open-store-database.ts';
import { measureBest } from '../support/measure-best.ts';

// The bounds are processor time of this thread, several times the normal value, so that other load does not matter. The
// full measurements are bench/booking.ts and bench/statistics.ts.

/** 12 was measured; an implementation that reads its entry or looks up its group for each row takes twice that. */
const microsPerRowMax = 45;
/** 1.5 was measured, of which the database takes a third; an object per row with a name for each value takes 3. */
const microsPerRecordMax = 6;

async function openDatabase(context: TestContext) {
  const directory = await mkdtemp(join(tmpdir(), 'weir-books-cost-'));
  const connection = openStoreDatabase({ path: join(directory, 'weir.db'), readOnly: false, busyTimeoutMs: 1000 });
  context.after(async () => {
    connection.close();
    await rm(directory, { recursive: true, force: true });
  });
  return connection;
}

async function processorMicros(work: () => Promise<unknown>): Promise<number> {
  const before = process.threadCpuUsage();
  await work();
  const { user, system } = process.threadCpuUsage(before);
  return user + system;
}

test('booking a batch takes a bounded processor time per call', async (context) => {
  const database = createSqliteDatabase(await openDatabase(context));
  const { appendBatch } = createLedgerOperations(database);
  const [calls = assert.fail()] = bookedCalls;
  let [booked, startMs] = [0, Date.UTC(2026, 0, 5)];
  const measure = async (): Promise<number> => {
    const batches = createBatches(calls, 6, (startMs += 60_000));
    const micros = await processorMicros(async () => {
      for (const batch of batches) booked += await appendBatch(batch, 'node');
    });
    return micros / (batches.length * calls.rows);
  };
  await measure();
  const perRow = await measureBest(
    measure,
    (micros) => micros < microsPerRowMax,
    (micros) => context.diagnostic(`${micros.toFixed(1)} µs`),
  );
  assert.ok(perRow < microsPerRowMax, `${perRow.toFixed(1)} µs a row`);
  const totals = await database.first('select (select count(*) from calls) as booked, (select sum(call_count) from usage_days) as counted');
  assert.deepEqual([totals?.['booked'], totals?.['counted']], [BigInt(booked), BigInt(booked)]);
});

test('a month by day takes a bounded processor time per record, and has every call once', async (context) => {
  const connection = await openDatabase(context);
  const shape = { ...busyYear, days: 32, users: 40, activeHours: 2, minuteDays: 1, calls: 600_000 };
  for (const statement of fillRollUps(shape)) connection.execute(statement);
  const { sumUsage } = createStatisticsOperations(createSqliteDatabase(connection));
  const store = { queryStatistics: async (query: Parameters<typeof sumUsage>[0]) => unpackRows(await sumUsage(query)) };
  const statistics = createStatistics({ store, timeZone: 'UTC' });
  const endSeconds = (shape.firstDay + shape.days - 1) * 86_400;
  const request = { granularity: 3, startSeconds: endSeconds - 30 * 86_400, endSeconds } as const;
  let answered = { records: 0, calls: 0 };
  const measure = async (): Promise<number> => {
    answered = { records: 0, calls: 0 };
    const micros = await processorMicros(async () => {
      for (const { callCount } of await statistics.query(request, {})) {
        answered.records += 1;
        answered.calls += callCount;
      }
    });
    return micros / answered.records;
  };
  await measure();
  const perRecord = await measureBest(
    measure,
    (micros) => micros < microsPerRecordMax,
    (micros) => context.diagnostic(`${micros.toFixed(1)} µs`),
  );
  assert.ok(perRecord < microsPerRecordMax, `${perRecord.toFixed(1)} µs a record`);
  const groups = shape.users * shape.keysPerUser * shape.modelsPerKey;
  const span = [request.startSeconds / 3600, request.endSeconds / 3600] as const;
  const kept = connection.first('select sum(call_count) as calls from usage_hours where hour >= ? and hour < ?', span);
  assert.deepEqual([answered.records, BigInt(answered.calls)], [30 * groups, kept?.['calls']]);
});
