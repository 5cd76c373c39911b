// The speed of statistics over a hundred million calls, in a temporary database: `node bench/statistics.ts [postgres]`.
import { createEntry } from '../conformance/store/call-entries.ts';
import { startPostgres } from '../conformance/support/start-postgres.ts';
import type { LedgerStore } from '../src/billing/ledger/ledger-store.ts';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openPostgresStore } from '../src/store/postgres/open-postgres-store.ts';
import { openDatabase } from '../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.ts';
import { busyYear, fillRollUps } from './fill-roll-ups.ts';
import { timeStatistics } from './time-statistics.ts';

/** Set by WEIR_BENCH_TIMES: the number of repetitions of each query. */
const times = Number(process.env['WEIR_BENCH_TIMES'] ?? 100);
let booked = 0;
type Engine = {
  readonly open: (readOnly: boolean) => ReturnType<typeof openSqliteStore>;
  readonly execute: (statement: string) => unknown;
  readonly end: () => unknown;
};

function useSqlite(): Engine {
  const folder = mkdtempSync(join(tmpdir(), 'weir-statistics-'));
  const path = join(folder, 'weir.sqlite');
  return {
    open: (readOnly) => openSqliteStore({ path, readOnly, callTimeoutMs: 600_000 }),
    execute: (statement) => {
      const shell = openDatabase(path, { readOnly: false, busyTimeoutMs: 5000 });
      shell.execute(statement);
      shell.close();
    },
    end: () => rmSync(folder, { recursive: true, force: true }),
  };
}

async function usePostgres(): Promise<Engine> {
  const server = await startPostgres();
  return {
    open: (readOnly) => openPostgresStore({ url: server.url(), readOnly, callTimeoutMs: 600_000 }),
    execute: (statement) => server.query(statement),
    end: server.close,
  };
}

const engine = process.argv[2] === 'postgres' ? await usePostgres() : useSqlite();
try {
  const writer = await engine.open(false);
  console.log(
    `${busyYear.calls / 1e6} million calls of ${busyYear.days} days, ${busyYear.users * busyYear.keysPerUser * busyYear.modelsPerKey} groups a day`,
  );
  let before = performance.now();
  for (const statement of fillRollUps(busyYear)) await engine.execute(statement);
  await engine.execute('analyze');
  console.log(`filled in ${seconds(before)}`);
  const reader = await engine.open(true);
  for (const [kept, asked] of [
    ['UTC', 'UTC'],
    ['Asia/Shanghai', 'Asia/Shanghai'],
    ['Asia/Shanghai', 'Europe/Berlin'],
  ] as const) {
    before = performance.now();
    const [changed, waitMs] = await bookMeanwhile(writer, writer.sumDaysOf(kept));
    if (changed) console.log(`days of ${kept} recomputed in ${seconds(before)}; bookings meanwhile waited ${waitMs.toFixed(0)} ms at most`);
    console.log(`\nasked in ${asked}, days kept of ${kept}`);
    const asking = { timeZone: asked, times: asked === kept ? times : Math.ceil(times / 10) };
    for await (const { question, records, p50Ms, p99Ms } of timeStatistics(reader, busyYear, asking)) {
      console.log(
        `${question.padEnd(36)} ${String(records).padStart(7)} records  p50 ${p50Ms.toFixed(1).padStart(7)} ms  p99 ${p99Ms.toFixed(1).padStart(7)} ms`,
      );
    }
  }
  await reader.close();
  await writer.close();
} finally {
  await engine.end();
}

/**
 * Books one call after the other, at the same time as a query, until some work ends. Resolves with its result and the
 * longest time of a booking.
 */
async function bookMeanwhile<Result>(store: LedgerStore, work: Promise<Result>): Promise<readonly [Result, longestMs: number]> {
  let isOver = false;
  void work.finally(() => (isOver = true));
  let longestMs = 0;
  while (!isOver) {
    const before = performance.now();
    booked += 1;
    await store.appendEntries([createEntry(`meanwhile-${booked}`, { acceptedAtMs: (busyYear.firstDay + busyYear.days) * 86_400_000 - 1 })]);
    longestMs = Math.max(longestMs, performance.now() - before);
  }
  return [await work, longestMs];
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
