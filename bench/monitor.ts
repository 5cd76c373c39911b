// The time and memory of answers with a million records, measured at the monitor's own endpoints over HTTP: `node
// bench/monitor.ts [postgres] [records]`.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

import { fillStatistics, filledFromSeconds } from '../conformance/support/fill-statistics.ts';
import { measureAnswers, type MeasuredQuestion } from '../conformance/support/measure-answers.ts';
import { startPostgres } from '../conformance/support/start-postgres.ts';
import { startWeir } from '../conformance/support/start-weir.ts';
import { openPostgresStore } from '../src/store/postgres/open-postgres-store.ts';
import { openDatabase } from '../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.ts';

const wordsAfter = process.argv.slice(2);
const records = Number(wordsAfter.find((word) => /^\d+$/.test(word)) ?? 1_000_000);
const groups = 100;
const units = Math.floor(records / groups);
const days = Math.min(1000, units);
/** Three times: the first answer compiles code that later ones reuse. */
const rounds = Number(process.env['WEIR_BENCH_ROUNDS'] ?? 3);

const shape = { users: 10, keys: 2, models: 5, days: 0, minutes: Math.min(10_000, units) };
const byDays = { users: 50, keys: 2, models: Math.max(1, Math.floor(records / days / 100)), days, minutes: 0 };
const minutes = { type: 1, startTime: filledFromSeconds, endTime: filledFromSeconds + shape.minutes * 60 };
const perDay = { type: 3, startTime: filledFromSeconds, endTime: filledFromSeconds + days * 86_400 };
const paths = (process.env['WEIR_BENCH_PATHS'] ?? '/bill/stats,/bill/csv,/bill/jsonl,/bill/excel').split(',');
const questions: readonly MeasuredQuestion[] = paths.flatMap((path) => [
  { path, body: perDay },
  { path, body: minutes },
]);

const folder = mkdtempSync(join(tmpdir(), 'weir-monitor-'));
const server = wordsAfter.includes('postgres') ? await startPostgres() : undefined;
try {
  if (server === undefined) await fillSqlite(join(folder, 'weir.sqlite'));
  else await fillPostgres();
  const config = server === undefined ? '{}' : JSON.stringify({ database: { url: server.url() } });
  await using weir = await startWeir({
    command: 'monitor',
    dataDirectory: folder,
    config,
    environment: { WEIR_BILLING_TOKEN: 'bench-token' },
  });
  console.log('question                       at once  first byte       all       CPU      size  more memory');
  for (const question of questions) {
    for (const atOnce of [1, 4]) {
      for (let round = 0; round < rounds; round += 1) {
        const measured = await measureAnswers(weir, question, atOnce).catch((error: unknown) => console.log(String(error)));
        if (measured === undefined) continue;
        const { firstByteSeconds, seconds, cpuSeconds, bytes, moreBytes } = measured;
        const name = `${question.path} ${question.body === perDay ? 'by day' : 'by minute'}`;
        const times = [`${firstByteSeconds.toFixed(2)} s`, `${seconds.toFixed(1)} s`, `${cpuSeconds.toFixed(1)} s`];
        const figures = [...times, megabytes(bytes), megabytes(moreBytes)];
        console.log(`${name.padEnd(30)} ${String(atOnce).padStart(7)} ${figures.map((figure) => figure.padStart(9)).join(' ')}`);
      }
    }
  }
} finally {
  await server?.close();
  rmSync(folder, { recursive: true, force: true });
}

async function fillSqlite(path: string): Promise<void> {
  await (await openSqliteStore({ path })).close();
  const shell = openDatabase(path, { readOnly: false, busyTimeoutMs: 5000 });
  for (const statement of [...fillStatistics(shape), ...fillStatistics(byDays)]) shell.execute(statement);
  shell.close();
}

async function fillPostgres(): Promise<void> {
  if (server === undefined) return;
  await (await openPostgresStore({ url: server.url() })).close();
  for (const statement of [...fillStatistics(shape), ...fillStatistics(byDays)]) await server.query(statement);
}

function megabytes(bytes: number): string {
  return `${(bytes / 1e6).toFixed(0)} MB`;
}
