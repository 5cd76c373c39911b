import type { StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database, SqlValue, ValueRow } from './database.ts';
import { packRows } from './packed-rows.ts';
import { sumColumns } from './roll-up-columns.ts';
import { dayBounds, keepDaysStep, readKeptDays } from './day-zone.ts';
import { type Segments, splitBuckets } from './split-buckets.ts';
import type { StatisticsStoreOperations } from '../worker/store-protocol.ts';

/** The statistics on a connection. */
export function createStatisticsOperations(database: Database): StatisticsStoreOperations {
  return {
    sumUsage: async (query) => packRows(await queryStatistics(database, query)),
    keepDaysStep: (timeZone, begins) => keepDaysStep(database, timeZone, begins),
  };
}

/** A table to sum from, with its own words for the time unit and the three names. */
type Source = {
  readonly table: string;
  readonly unit: string;
  readonly tokenName: string;
  readonly modelName: string;
  readonly callCount: string;
  readonly condition: string;
  readonly isRollUp: boolean;
};

const hourSource: Source = {
  table: 'usage_hours',
  unit: 'hour',
  tokenName: 'token_name',
  modelName: 'model_name',
  callCount: 'call_count',
  condition: '',
  isRollUp: true,
};
const daySource: Source = { ...hourSource, table: 'usage_days', unit: 'day' };
const minuteSource: Source = { ...hourSource, table: 'usage_minutes', unit: 'minute' };
const callSource: Source = {
  table: 'calls',
  unit: 'accepted_at_ms',
  tokenName: 'key_name',
  modelName: 'requested_model',
  // 2: a part of a call that another row counts.
  callCount: 'case source.billed when 1 then 1 else 0 end',
  condition: 'and source.billed in (1, 2)',
  isRollUp: false,
};

/** How often a question is asked anew because the days were given another time zone while it was answered. */
const attemptsMax = 3;
/** Buckets shorter than the shortest day hold no day. */
const dayHoursMin = 23;

async function queryStatistics(database: Database, query: StatisticsQuery): Promise<readonly ValueRow[]> {
  if (!query.buckets.some((bucket) => bucket.endSeconds - bucket.startSeconds >= dayHoursMin * 3600)) {
    return await sumSegments(database, query, splitBuckets(query));
  }
  let kept = await readKeptDays(database);
  for (let attempt = 1; attempt <= attemptsMax; attempt += 1) {
    const { zone, fromMinute } = kept;
    const bounds = dayBounds(query.startSeconds, query.endSeconds, zone).filter((bound) => bound >= fromMinute * 60);
    const rows = await sumSegments(database, query, splitBuckets({ ...query, dayBounds: bounds }), bounds);
    kept = await readKeptDays(database);
    // Days that came to it meanwhile change nothing.
    if (kept.zone === zone && kept.fromMinute <= fromMinute) return rows;
  }
  return await sumSegments(database, query, splitBuckets(query));
}

/**
 * @param bounds where the days begin that are kept, in Unix seconds
 * @returns rows as packRows takes them
 */
async function sumSegments(
  database: Database,
  query: StatisticsQuery,
  segments: Segments,
  bounds: readonly number[] = [],
): Promise<readonly ValueRow[]> {
  const dayMinutes = bounds.map((bound) => bound / 60);
  if (query.userName === undefined && segments.days.length > 0 && isDayByDay(segments, bounds)) {
    const days = await readDays(database, query, segments.days);
    const cut = await sumSegments(database, query, { ...segments, days: [] });
    const firstDay = segments.days[0]?.[0] ?? 0;
    const isBefore = (row: ValueRow): boolean => Number(row[0]) < firstDay;
    return [...cut.filter(isBefore), ...days, ...cut.filter((row) => !isBefore(row))].slice(0, query.rowsMax + 1);
  }
  const parts: string[] = [];
  const parameters: SqlValue[] = [];
  for (const [source, sourceSegments] of [
    [daySource, segments.days],
    [hourSource, segments.hours],
    [minuteSource, segments.minutes],
    [callSource, segments.calls],
  ] as const) {
    if (sourceSegments.length === 0) continue;
    const filter = createFilter(source, query);
    const perUnit = query.userName !== undefined && source.isRollUp;
    parts.push(selectFrom(database.words.segments, source, perUnit ? inUnit(source) : inRange(source), filter.conditions));
    parameters.push(JSON.stringify(perUnit ? listUnits(source, sourceSegments, dayMinutes) : sourceSegments), ...filter.parameters);
  }
  if (parts.length === 0) return [];
  const { realSum } = database.words;
  const sql = `select bucket, user_name, token_name, model_name,
      ${realSum('prompt_tokens')} as prompt_tokens, ${realSum('completion_tokens')} as completion_tokens, ${realSum('cache_tokens')} as cache_tokens,
      ${realSum('cache_creation_tokens')} as cache_creation_tokens, ${realSum('use_time_ms')} as use_time_ms,
      sum(call_count) as call_count, sum(amount_nano_usd) as amount_nano_usd
    from (${parts.join(' union all ')}) as parts
    group by bucket, user_name, token_name, model_name
    order by bucket, user_name, token_name, model_name
    limit ?`;
  return await database.rows(sql, ...parameters, query.rowsMax + 1);
}

/** Whether each day is a bucket of its own: then its rows need not be put together. What else is asked for are days that the question cuts. */
function isDayByDay({ days }: Segments, bounds: readonly number[]): boolean {
  const nextDay = new Map(bounds.map((bound, index) => [bound, bounds[index + 1]]));
  return days.every(([bucket, from, until]) => bucket === from * 60 && nextDay.get(bucket) === until * 60);
}

/** The rows of adjacent days as they are kept. */
async function readDays(database: Database, query: StatisticsQuery, days: Segments['days']): Promise<readonly ValueRow[]> {
  const filter = createFilter(daySource, query);
  const counts = sumColumns.filter((column) => column !== 'amount_nano_usd').map(database.words.fastNumber);
  const sql = `select ${database.words.fastNumber('source.day * 60')}, user_name, token_name, model_name, ${counts.join(', ')}, amount_nano_usd
    from usage_days as source
    where source.day >= ? and source.day < ? ${filter.conditions}
    order by source.day, user_name, token_name, model_name
    limit ?`;
  const [from, until] = [days[0]?.[1] ?? 0, days.at(-1)?.[2] ?? 0];
  return await database.rows(sql, from, until, ...filter.parameters, query.rowsMax + 1);
}

/** The rows of one source inside its segments. The cross join keeps SQLite from scanning the table once and the segments for each row. */
function selectFrom(segments: string, source: Source, within: string, conditions: string): string {
  return `select segments.bucket as bucket, source.user_name as user_name, source.${source.tokenName} as token_name,
      source.${source.modelName} as model_name, prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms,
      ${source.callCount} as call_count, amount_nano_usd
    from ${segments} as segments
    cross join ${source.table} as source
    where ${within} ${source.condition} ${conditions}`;
}

const inRange = ({ unit }: Source): string => `source.${unit} >= segments.from_unit and source.${unit} < segments.until_unit`;

/** One unit of time at once: behind it, the key of a roll-up leads on to the user, so that one user's rows are found among those of all. */
const inUnit = ({ unit }: Source): string => `source.${unit} = segments.from_unit`;

function listUnits(source: Source, segments: Segments['days'], dayMinutes: readonly number[]): Segments['days'] {
  return segments.flatMap(([bucket, from, until]) => {
    const units = source.unit === 'day' ? dayMinutes.filter((day) => from <= day && day < until) : range(from, until);
    return units.map((unit) => [bucket, unit, unit + 1] as const);
  });
}

function range(from: number, until: number): readonly number[] {
  return Array.from({ length: until - from }, (_, index) => from + index);
}

/** Exact comparisons; there are eight combinations of them, so that the statements kept prepared stay few. */
function createFilter(source: Source, query: StatisticsQuery): { readonly conditions: string; readonly parameters: readonly SqlValue[] } {
  let conditions = '';
  const parameters: SqlValue[] = [];
  const filters = [
    ['user_name', query.userName],
    [source.tokenName, query.tokenName],
    [source.modelName, query.modelName],
  ] as const;
  for (const [column, value] of filters) {
    if (value === undefined) continue;
    conditions += ` and source.${column} = ?`;
    parameters.push(toStorableText(value));
  }
  return { conditions, parameters };
}
