import type { StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import type { StatisticsStoreOperations } from '../worker/store-protocol.ts';
import type { Database } from './database.ts';
import type { ValueRow } from './sql-values.ts';
import { type DailySums, sumDaysStep, readDailySums } from './day-zone.ts';
import { packRows } from './packed-rows.ts';
import { StatisticsPages } from './statistics-pages.ts';

/** The SQL of the statistics. */
export function createStatisticsOperations(database: Database): StatisticsStoreOperations {
  return {
    sumUsage: async (query) => packRows(await collectRecords(database, query)),
    sumDaysStep: (timeZone, begins) => sumDaysStep(database, timeZone, begins),
  };
}

/** How often a query is repeated because the time zone of the days changed while it ran. */
const attemptsMax = 3;

/** All records of a query at once, at most one more than allowed. */
async function collectRecords(database: Database, query: StatisticsQuery): Promise<readonly ValueRow[]> {
  let sums = await readDailySums(database);
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const rows = await readPages(database, new StatisticsPages(query), query.rowsMax);
    const { zone, fromMinute }: DailySums = sums;
    sums = await readDailySums(database);
    // Days that were added in the meantime change nothing.
    if (sums.zone === zone && sums.fromMinute <= fromMinute) return rows;
  }
  return await readPages(database, new StatisticsPages(query, false), query.rowsMax);
}

async function readPages(database: Database, pages: StatisticsPages, rowsMax: number): Promise<readonly ValueRow[]> {
  const collected: ValueRow[] = [];
  for (let rows = await pages.next(database); rows !== undefined; rows = await pages.next(database)) {
    for (const row of rows) collected.push(row);
    if (collected.length > rowsMax) return collected.slice(0, rowsMax + 1);
  }
  return collected;
}
