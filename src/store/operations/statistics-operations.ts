import type { StatisticsQuery, StatisticsRow } from '../../billing/statistics/statistics-store.ts';
import { toStorableText } from '../storable-text.ts';
import type { Database, SqlRow, SqlValue } from './database.ts';
import { readBigInt, readInteger, readReal, readText } from './read-column.ts';
import { splitBuckets } from './split-buckets.ts';
import type { StatisticsStoreOperations } from '../worker/store-protocol.ts';

/** The statistics on a connection. */
export function createStatisticsOperations(database: Database): StatisticsStoreOperations {
  return { queryStatistics: (query) => queryStatistics(database, query) };
}

/** A table to sum from, with its own words for the time unit and the three names. */
type Source = {
  readonly table: string;
  readonly unit: string;
  readonly tokenName: string;
  readonly modelName: string;
  readonly callCount: string;
  readonly condition: string;
};

const hourSource: Source = {
  table: 'usage_hours',
  unit: 'hour',
  tokenName: 'token_name',
  modelName: 'model_name',
  callCount: 'call_count',
  condition: '',
};
const minuteSource: Source = { ...hourSource, table: 'usage_minutes', unit: 'minute' };
const callSource: Source = {
  table: 'calls',
  unit: 'accepted_at_ms',
  tokenName: 'key_name',
  modelName: 'requested_model',
  // 2: a part of a call that another row counts.
  callCount: 'case source.billed when 1 then 1 else 0 end',
  condition: 'and source.billed in (1, 2)',
};

async function queryStatistics(database: Database, query: StatisticsQuery): Promise<readonly StatisticsRow[]> {
  const segments = splitBuckets(query);
  const parts: string[] = [];
  const parameters: SqlValue[] = [];
  for (const [source, sourceSegments] of [
    [hourSource, segments.hours],
    [minuteSource, segments.minutes],
    [callSource, segments.calls],
  ] as const) {
    if (sourceSegments.length === 0) continue;
    const filter = createFilter(source, query);
    parts.push(selectFrom(database.words.segments, source, filter.conditions));
    parameters.push(JSON.stringify(sourceSegments), ...filter.parameters);
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
  return (await database.all(sql, ...parameters, query.rowsMax + 1)).map(decodeRow);
}

/** The rows of one source inside its segments. The cross join keeps SQLite from scanning the table once and the segments for each row. */
function selectFrom(segments: string, source: Source, conditions: string): string {
  return `select segments.bucket as bucket, source.user_name as user_name, source.${source.tokenName} as token_name,
      source.${source.modelName} as model_name, prompt_tokens, completion_tokens, cache_tokens, cache_creation_tokens, use_time_ms,
      ${source.callCount} as call_count, amount_nano_usd
    from ${segments} as segments
    cross join ${source.table} as source
    where source.${source.unit} >= segments.from_unit and source.${source.unit} < segments.until_unit ${source.condition} ${conditions}`;
}

/** Exact comparisons; there are eight combinations per source, so that the statements kept prepared stay few. */
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

function decodeRow(row: SqlRow): StatisticsRow {
  return {
    bucketStartSeconds: readInteger(row, 'bucket'),
    userName: readText(row, 'user_name'),
    tokenName: readText(row, 'token_name'),
    modelName: readText(row, 'model_name'),
    promptTokens: readReal(row, 'prompt_tokens'),
    completionTokens: readReal(row, 'completion_tokens'),
    cacheTokens: readReal(row, 'cache_tokens'),
    cacheCreationTokens: readReal(row, 'cache_creation_tokens'),
    useTimeMs: readReal(row, 'use_time_ms'),
    callCount: readInteger(row, 'call_count'),
    amountNanoUsd: readBigInt(row, 'amount_nano_usd'),
  };
}
