// The cost of booking a call in the store's thread, with a temporary database: `node bench/booking.ts [postgres]`. On
// PostgreSQL the server's own time is additional.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../conformance/support/start-postgres.ts';
import { createLedgerOperations } from '../src/store/operations/ledger-operations.ts';
import type { Database } from '../src/store/operations/database.ts';
import { createPostgresDatabase } from '../src/store/postgres/postgres-database.ts';
import { migrateDatabase } from '../src/store/postgres/migrate-database.ts';
import { oneConnection } from '../src/store/postgres/migrate-postgres.ts';
import { openPool } from '../src/store/postgres/open-pool.ts';
import { createSqliteDatabase } from '../src/store/sqlite/sqlite-database.ts';
import { openStoreDatabase } from '../src/store/sqlite/open-store-database.ts';
import { bookedCalls, createBatches } from './book-entries.ts';

/** Rows of a measurement. */
const rowsMeasured = 20_000;
const startMs = Date.UTC(2026, 0, 5, 9);

type Engine = { readonly database: Database; readonly end: () => Promise<unknown> };

function useSqlite(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-booking-'));
  const connection = openStoreDatabase({ path: join(folder, 'weir.sqlite'), readOnly: false, busyTimeoutMs: 5000 });
  return Promise.resolve({
    database: createSqliteDatabase(connection),
    end: async () => {
      connection.close();
      rmSync(folder, { recursive: true, force: true });
    },
  });
}

async function usePostgres(): Promise<Engine> {
  const server = await startPostgres();
  const pool = openPool({ url: server.url(), ...oneConnection });
  await migrateDatabase(pool);
  return { database: createPostgresDatabase(pool), end: () => pool.close().then(server.close) };
}

const engine = process.argv[2] === 'postgres' ? await usePostgres() : await useSqlite();
try {
  const { appendBatch } = createLedgerOperations(engine.database);
  console.log(`${'batches of'.padEnd(40)} CPU µs a row   ms a batch`);
  for (const [index, calls] of bookedCalls.entries()) {
    const count = Math.ceil(rowsMeasured / calls.rows);
    const batches = createBatches(calls, count * 2, startMs + index * 60_000);
    // The first half warms up.
    for (const batch of batches.slice(0, count)) await appendBatch(batch, 'bench');
    const [cpu, before] = [process.threadCpuUsage(), performance.now()];
    for (const batch of batches.slice(count)) await appendBatch(batch, 'bench');
    const { user, system } = process.threadCpuUsage(cpu);
    const micros = (user + system) / (count * calls.rows);
    const batchMs = (performance.now() - before) / count;
    console.log(`${calls.name.padEnd(40)} ${micros.toFixed(2).padStart(12)} ${batchMs.toFixed(2).padStart(12)}`);
  }
} finally {
  await engine.end();
}
