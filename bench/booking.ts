// The cost of a call in the store, with a temporary database: `node bench/booking.ts`, and a part of `npm run bench`.
// Calls are booked, and then followed: the follower writes the facts of lists and figures. On PostgreSQL the time of
// the server's process for this connection is counted too. The bytes are those of the database with its indexes, after
// `vacuum` on PostgreSQL.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { skipPostgres, startPostgres } from '../conformance/support/start-postgres.ts';
import { createCallFactsOperations } from '../src/store/operations/facts/call-facts-operations.ts';
import { createLedgerOperations } from '../src/store/operations/ledger-operations.ts';
import type { Database } from '../src/store/operations/database.ts';
import { createPostgresDatabase } from '../src/store/postgres/postgres-database.ts';
import { migrateDatabase } from '../src/store/postgres/migrate-database.ts';
import { oneConnection } from '../src/store/postgres/migrate-postgres.ts';
import { openPool } from '../src/store/postgres/open-pool.ts';
import { createSqliteDatabase } from '../src/store/sqlite/sqlite-database.ts';
import { openStoreDatabase } from '../src/store/sqlite/open-store-database.ts';
import { type BookedCalls, bookedCalls, createBatches } from './book-entries.ts';
import { cpuSecondsOf } from './cpu-seconds.ts';

/** Rows of a measurement. */
const rowsMeasured = 10_000;
const firstMs = Date.UTC(2026, 0, 5, 9);

type Engine = {
  readonly name: string;
  readonly database: Database;
  readonly bytes: () => Promise<number>;
  /** Counts rows for the planner of the server, as the server does by itself within a minute. */
  readonly analyze?: () => Promise<unknown>;
  /** Processor time of the server for the connection. */
  readonly serverMicros: () => number;
  readonly end: () => Promise<unknown>;
};

function useSqlite(): Promise<Engine> {
  const folder = mkdtempSync(join(tmpdir(), 'weir-booking-'));
  const connection = openStoreDatabase({ path: join(folder, 'weir.sqlite'), readOnly: false, busyTimeoutMs: 5000 });
  return Promise.resolve({
    name: 'SQLite',
    serverMicros: () => 0,
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
  const database = createPostgresDatabase(pool);
  const pid = Number((await database.first('select pg_backend_pid() as pid'))?.['pid']);
  return {
    name: 'PostgreSQL',
    serverMicros: () => cpuSecondsOf(pid) * 1e6,
    database,
    bytes,
    analyze: () => server.query('analyze'),
    end: () => pool.close().then(server.close),
  };
}

/** Rows of a step, as the gateway's follower has them. */
const followedAtOnce = 200;

/** One row of the table: the cost of a call of this kind. */
async function measure(engine: Engine, calls: BookedCalls, startMs: number): Promise<string> {
  const { appendBatch } = createLedgerOperations(engine.database);
  const { followCalls } = createCallFactsOperations(engine.database);
  const count = Math.ceil(rowsMeasured / calls.rows);
  const batches = createBatches(calls, count * 2, startMs);
  /** Runs work, and returns its processor time per row in microseconds. */
  const perRow = async (work: () => Promise<void>): Promise<string> => {
    const [before, serverBefore] = [process.threadCpuUsage(), engine.serverMicros()];
    await work();
    const { user, system } = process.threadCpuUsage(before);
    return ((user + system + engine.serverMicros() - serverBefore) / (count * calls.rows)).toFixed(1);
  };
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
  await engine.analyze?.();
  const booked = await perRow(() => book(batches.slice(count)));
  const followed = await perRow(follow);
  const bytes = ((await engine.bytes()) - bytesBefore) / (2 * count * calls.rows);
  return `| ${[engine.name, calls.name, booked, followed, bytes.toFixed(0)].join(' | ')} |`;
}

async function rowsOf(engine: Engine): Promise<readonly string[]> {
  try {
    const rows: string[] = [];
    for (const [index, calls] of bookedCalls.entries()) rows.push(await measure(engine, calls, firstMs + index * 60_000));
    return rows;
  } finally {
    await engine.end();
  }
}

/** What a call costs in the store, on each engine that is installed. */
export async function bookingTable(): Promise<string> {
  return [
    'The thread of the store, with the server’s process on PostgreSQL: CPU µs to book a call in batches, and to write the',
    'facts about it that lists and figures need.',
    '',
    '| | batches of | booked | its facts | bytes |',
    '|---|---|---|---|---|',
    ...(await rowsOf(await useSqlite())),
    ...(skipPostgres === false ? await rowsOf(await usePostgres()) : []),
    '',
  ].join('\n');
}

if (import.meta.main) console.log(await bookingTable());
