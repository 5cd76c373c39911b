// The cost of a call in the store's thread, with a temporary database: `node bench/booking.ts [postgres]`. Calls are
// booked, and then followed: the follower writes the facts of lists and figures. On PostgreSQL the server's own time is
// additional. The bytes are those of the database with its indexes, after `vacuum` on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startPostgres } from '../conformance/support/start-postgres.ts';
import { createCallFactsOperations } from '../src/store/operations/facts/call-facts-operations.ts';
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

type Engine = { readonly database: Database; readonly bytes: () => Promise<number>; readonly end: () => Promise<unknown> };

function useSqlite(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-booking-'));
  const connection = openStoreDatabase({ path: join(folder, 'weir.sqlite'), readOnly: false, busyTimeoutMs: 5000 });
  return Promise.resolve({
    database: createSqliteDatabase(connection),
    bytes: () => {
      const [pages, size] = ['page_count', 'page_size'].map((name) => Number(connection.first(`pragma ${name}`)?.[name]));
      return Promise.resolve((pages ?? 0) * (size ?? 0));
    },
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
  const bytes = async (): Promise<number> => {
    await server.query('vacuum full');
    return Number(await server.query('select pg_database_size(current_database())'));
  };
  return { database: createPostgresDatabase(pool), bytes, end: () => pool.close().then(server.close) };
}

/** Rows of a step, as the gateway's follower has them. */
const followedAtOnce = 200;

const engine = process.argv[2] === 'postgres' ? await usePostgres() : await useSqlite();
try {
  const { appendBatch } = createLedgerOperations(engine.database);
  const { followCalls } = createCallFactsOperations(engine.database);
  /** Runs work, and returns its processor time per row in microseconds. */
  const measure = async (rows: number, work: () => Promise<void>): Promise<string> => {
    const before = process.threadCpuUsage();
    await work();
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system) / rows).toFixed(2).padStart(12);
  };
  console.log(`${'CPU µs a row of batches of'.padEnd(40)}       booked     followed   ms a batch  bytes a row`);
  for (const [index, calls] of bookedCalls.entries()) {
    const count = Math.ceil(rowsMeasured / calls.rows);
    const batches = createBatches(calls, count * 2, startMs + index * 60_000);
    const book = async (some: typeof batches): Promise<void> => {
      for (const batch of some) await appendBatch(batch, 'bench');
    };
    const follow = async (): Promise<void> => {
      while ((await followCalls(followedAtOnce, startMs)) === 'more');
    };
    const bytesBefore = await engine.bytes();
    // The first half warms up.
    await book(batches.slice(0, count));
    await follow();
    const before = performance.now();
    const booked = await measure(count * calls.rows, () => book(batches.slice(count)));
    const batchMs = (performance.now() - before) / count;
    const followed = await measure(count * calls.rows, follow);
    const bytes = ((await engine.bytes()) - bytesBefore) / (2 * count * calls.rows);
    console.log(`${calls.name.padEnd(40)} ${booked} ${followed} ${batchMs.toFixed(2).padStart(12)} ${bytes.toFixed(0).padStart(12)}`);
  }
} finally {
  await engine.end();
}
