// What packed days cost a booking, in pairs of processor time of the store's thread: `node bench/booking-pairs.ts`. Two
// SQLite databases book the same calls in turn; one of them has no triggers that forget packs.
import { mkdtempSync, rmSync } from 'node:fs';
import { loadavg, tmpdir } from 'node:os';
import { join } from 'node:path';

import { createLedgerOperations } from '../src/store/operations/ledger-operations.ts';
import { openStoreDatabase } from '../src/store/sqlite/open-store-database.ts';
import { createSqliteDatabase } from '../src/store/sqlite/sqlite-database.ts';
import { bookedCalls, createBatches } from './book-entries.ts';

const pairs = 36;
const warmUps = 12;
const batchesAtOnce = 4;
const triggers = ['usage_days_added', 'usage_days_changed', 'usage_days_deleted'];

function openSide(isWhole: boolean) {
  const folder = mkdtempSync(join(tmpdir(), 'weir-booking-'));
  const connection = openStoreDatabase({ path: join(folder, 'weir.sqlite'), readOnly: false, busyTimeoutMs: 5000 });
  if (!isWhole) for (const trigger of triggers) connection.execute(`drop trigger ${trigger}`);
  return {
    append: createLedgerOperations(createSqliteDatabase(connection)).appendBatch,
    end: () => {
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

const median = (values: readonly number[]): number => values.toSorted((one, other) => one - other)[values.length >> 1] ?? 0;

console.log(`load ${(loadavg()[0] ?? 0).toFixed(1)}; CPU µs a row with and without, and the median of ${pairs} ratios`);
for (const calls of bookedCalls.filter(({ rows }) => rows === 500)) {
  const sides = [true, false].map((isWhole) => ({
    ...openSide(isWhole),
    batches: createBatches(calls, (pairs + warmUps) * batchesAtOnce, Date.UTC(2026, 0, 5, 9)),
    taken: [] as number[],
  }));
  for (let pair = 0; pair < pairs + warmUps; pair += 1) {
    for (const { append, batches, taken } of pair % 2 === 0 ? sides : sides.toReversed()) {
      const before = process.threadCpuUsage();
      for (const batch of batches.slice(pair * batchesAtOnce, (pair + 1) * batchesAtOnce)) await append(batch, 'bench');
      const { user, system } = process.threadCpuUsage(before);
      if (pair >= warmUps) taken.push((user + system) / (batchesAtOnce * calls.rows));
    }
  }
  const [whole = [], bare = []] = sides.map(({ taken }) => taken);
  const ratio = median(whole.map((micros, pair) => micros / (bare[pair] ?? micros)));
  console.log(`${calls.name.padEnd(36)} ${median(whole).toFixed(2)} ${median(bare).toFixed(2)} ${ratio.toFixed(3)}`);
  for (const { end } of sides) end();
}
