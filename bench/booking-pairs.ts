// What a row with its facts costs the store's thread in two checkouts, in pairs of processor time: `node
// bench/booking-pairs.ts [FOLDER]`. Two SQLite databases book the same calls in turn; the second one by the sources in
// FOLDER. Without FOLDER both are of this checkout, which shows what the order and the machine do.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';

import type * as Operations from '../src/store/operations/store-operations.ts';
import type * as Opening from '../src/store/sqlite/open-store-database.ts';
import type * as Sqlite from '../src/store/sqlite/sqlite-database.ts';
import { bookedCalls, createBatches } from './book-entries.ts';

const pairs = 36;
const warmUps = 12;
const batchesAtOnce = 4;
const ownFolder = join(import.meta.dirname, '..');

/** A database that books as the store's thread of a checkout does in a busy process. */
async function openSide(checkout: string) {
  const load = (file: string): Promise<unknown> => import(pathToFileURL(join(checkout, 'src/store', file)).href);
  const { openStoreDatabase } = (await load('sqlite/open-store-database.ts')) as typeof Opening;
  const { createSqliteDatabase } = (await load('sqlite/sqlite-database.ts')) as typeof Sqlite;
  const { createStoreOperations } = (await load('operations/store-operations.ts')) as typeof Operations;
  const folder = mkdtempSync(join(tmpdir(), 'weir-booking-'));
  const connection = openStoreDatabase({ path: join(folder, 'weir.sqlite'), readOnly: false, busyTimeoutMs: 5000 });
  return {
    append: createStoreOperations(createSqliteDatabase(connection, { giveWay: () => {}, isBusy: () => true })).appendBatch,
    end: () => {
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const sorted = (values: readonly number[]): readonly number[] => values.toSorted((one, other) => one - other);
const lowerQuartile = (values: readonly number[]): number => sorted(values)[values.length >> 2] ?? 0;
const median = (values: readonly number[]): number => sorted(values)[values.length >> 1] ?? 0;

const [other = ownFolder] = process.argv.slice(2);
console.log(`load ${(loadavg()[0] ?? 0).toFixed(1)}; CPU µs a row here and in ${other}, and the median of ${pairs} ratios`);
for (const calls of bookedCalls.filter(({ rows }) => rows === 500)) {
  const sides = [];
  for (const checkout of [ownFolder, resolve(other)]) {
    const batches = createBatches(calls, (pairs + warmUps) * batchesAtOnce, Date.UTC(2026, 0, 5, 9));
    sides.push({ ...(await openSide(checkout)), batches, taken: [] as number[] });
  }
  for (let pair = 0; pair < pairs + warmUps; pair += 1) {
    for (const { append, batches, taken } of pair % 2 === 0 ? sides : sides.toReversed()) {
      const before = process.threadCpuUsage();
      for (const batch of batches.slice(pair * batchesAtOnce, (pair + 1) * batchesAtOnce)) await append(batch, 'bench');
      const { user, system } = process.threadCpuUsage(before);
      if (pair >= warmUps) taken.push((user + system) / (batchesAtOnce * calls.rows));
    }
  }
  const [here = [], there = []] = sides.map(({ taken }) => taken);
  const ratio = median(here.map((micros, pair) => micros / (there[pair] ?? micros)));
  console.log(`${calls.name.padEnd(36)} ${lowerQuartile(here).toFixed(2)} ${lowerQuartile(there).toFixed(2)} ${ratio.toFixed(3)}`);
  for (const { end } of sides) end();
}
