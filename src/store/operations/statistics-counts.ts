import type { StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import type { Database } from './database.ts';
import { type BucketPositions, inRange, inUnit, partsOf, sumsOf, unitsOf } from './statistics-parts.ts';
import { type StatisticsPlan, planStatistics } from './statistics-plan.ts';
import { filterNames, sourceNames, sources, sourcesOf } from './statistics-sources.ts';

/** The number of rows that some buckets are read from; more than the maximum if there are more. */
export async function countTouched(
  database: Database,
  plan: StatisticsPlan,
  positions: BucketPositions,
  query: StatisticsQuery,
  rowsMax: number,
): Promise<number> {
  let touched = 0;
  for (const [name, source] of sourceNames.flatMap((each) => sourcesOf(each).map((of) => [each, of] as const))) {
    const ofUser = query.userName !== undefined && source.isRollUp;
    const parts = ofUser ? unitsOf(plan, positions, name) : partsOf(plan, positions, name);
    if (parts.length === 0) continue;
    // A filter by a name that is not in the key would still read the row.
    const filter = filterNames(source, query.userName === undefined ? {} : { userName: query.userName });
    const sql = `select count(*) as touched from (select 1 as one from ${database.fragments.segments} as segments cross join ${source.table} as source
      where ${ofUser ? inUnit(source) : inRange(source)} ${filter.conditions} limit ?) as parts`;
    const row = await database.first(sql, JSON.stringify(parts), ...filter.parameters, rowsMax + 1);
    touched += Number(row?.['touched'] ?? 0);
    if (touched > rowsMax) break;
  }
  return touched;
}

/**
 * Whether an answer would have more records than the query allows. Rows are only counted, and added up only if there
 * are more rows than records are allowed.
 */
export async function hasTooManyRecords(database: Database, query: StatisticsQuery): Promise<boolean> {
  const plan = await planStatistics(database, query);
  let records = 0;
  for (let position = 0; position < plan.buckets.length && records <= query.rowsMax;) {
    const runEnd = plan.runEnds[position];
    let until = runEnd ?? position + 1;
    while (runEnd === undefined && until < plan.buckets.length && plan.runEnds[until] === undefined) until += 1;
    records += await (runEnd === undefined ? countGroups : countRun)(
      database,
      plan,
      { from: position, until },
      query,
      query.rowsMax - records,
    );
    position = until;
  }
  return records > query.rowsMax;
}

async function countRun(
  database: Database,
  plan: StatisticsPlan,
  { from, until }: BucketPositions,
  query: StatisticsQuery,
  rowsMax: number,
): Promise<number> {
  const [first, last] = [plan.pieces[from]?.[0], plan.pieces[until - 1]?.[0]];
  if (first === undefined || last === undefined) return 0;
  const source = sources[first.source];
  const filter = filterNames(source, query);
  const sql = `select count(*) as records from (select 1 as one from ${source.table} as source
    where source.${source.unit} >= ? and source.${source.unit} < ? ${filter.conditions} limit ?) as parts`;
  const row = await database.first(sql, first.from, last.until, ...filter.parameters, rowsMax + 1);
  return Number(row?.['records'] ?? 0);
}

async function countGroups(
  database: Database,
  plan: StatisticsPlan,
  positions: BucketPositions,
  query: StatisticsQuery,
  rowsMax: number,
): Promise<number> {
  // There are at least as many rows as records.
  const touched = await countTouched(database, plan, positions, query, rowsMax);
  if (touched <= rowsMax) return touched;
  const sums = sumsOf(database, plan, positions, query, {});
  if (sums === undefined) return 0;
  const sql = `select count(*) as records from (select 1 as one from (${sums.parts}) as parts
    group by bucket, user_name, token_name, model_name limit ?) as records`;
  const row = await database.first(sql, ...sums.parameters, rowsMax + 1);
  return Number(row?.['records'] ?? 0);
}

/** The number of calls behind all records of a query. */
export async function countCalls(database: Database, query: StatisticsQuery): Promise<number> {
  const { startSeconds, endSeconds } = query;
  // One bucket for the whole span reads the longest units of time.
  const minutes = [Math.floor(startSeconds / 60) * 60, Math.ceil(endSeconds / 60) * 60] as const;
  const whole = { ...query, buckets: [{ startSeconds: minutes[0], endSeconds: minutes[1] }] };
  const sums = sumsOf(database, await planStatistics(database, whole), { from: 0, until: 1 }, whole, {});
  if (sums === undefined) return 0;
  const row = await database.first(`select coalesce(sum(call_count), 0) as calls from (${sums.parts}) as parts`, ...sums.parameters);
  return Number(row?.['calls'] ?? 0);
}
