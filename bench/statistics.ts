// How fast statistics over a hundred million calls are, in a temporary database of the engine that is named: `node bench/statistics.ts [sqlite|postgres://…]`. The database of a URL has to be
// empty.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { openDatabase } from '../src/store/sqlite/open-database.ts';
import { openSqliteStore } from '../src/store/sqlite/open-sqlite-store.ts';
import { busyYear, fillRollUps } from './fill-roll-ups.ts';
import { timeStatistics } from './time-statistics.ts';

/** Given as WEIR_BENCH_TIMES: how often each question is asked. */
const times = Number(process.env['WEIR_BENCH_TIMES'] ?? 100);
const folder = mkdtempSync(join(tmpdir(), 'weir-statistics-'));
try {
  const path = join(folder, 'weir.sqlite');
  const writer = await openSqliteStore({ path, callTimeoutMs: 600_000 });
  console.log(
    `${busyYear.calls / 1e6} million calls of ${busyYear.days} days, ${busyYear.users * busyYear.keysPerUser * busyYear.modelsPerKey} groups a day`,
  );
  let before = performance.now();
  const shell = openDatabase(path, { readOnly: false, busyTimeoutMs: 5000 });
  for (const statement of fillRollUps(busyYear)) shell.execute(statement);
  shell.close();
  console.log(`filled in ${seconds(before)}`);
  const reader = await openSqliteStore({ path, readOnly: true });
  for (const [kept, asked] of [
    ['UTC', 'UTC'],
    ['Asia/Shanghai', 'Asia/Shanghai'],
    ['Asia/Shanghai', 'Europe/Berlin'],
  ] as const) {
    before = performance.now();
    if (await writer.keepDaysOf(kept)) console.log(`days of ${kept} added up anew in ${seconds(before)}`);
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
  rmSync(folder, { recursive: true, force: true });
}

function seconds(since: number): string {
  return `${((performance.now() - since) / 1000).toFixed(1)} s`;
}
