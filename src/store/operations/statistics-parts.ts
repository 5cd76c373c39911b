import type { StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import type { Database } from './database.ts';
import type { SqlValue } from './sql-values.ts';
import type { Segments } from './split-buckets.ts';
import type { StatisticsPlan } from './statistics-plan.ts';
import { type NameRange, type Source, filterNames, sourceNames, sourcesOf } from './statistics-sources.ts';

/** Buckets by position: `[from, until)`. */
export type BucketPositions = { readonly from: number; readonly until: number };

type Triple = readonly [bucket: number, from: number, until: number];

/** The parts of some buckets that come from one source, as input of the engine's segments. */
export function partsOf(plan: StatisticsPlan, { from, until }: BucketPositions, source: keyof Segments): Triple[] {
  const parts: Triple[] = [];
  for (let position = from; position < until; position += 1) {
    const bucket = plan.buckets[position]?.startSeconds ?? 0;
    for (const piece of plan.pieces[position] ?? []) if (piece.source === source) parts.push([bucket, piece.from, piece.until]);
  }
  return parts;
}

/** The same with one part per unit of time: with single units, the key of a roll-up includes the names. */
export function unitsOf(plan: StatisticsPlan, positions: BucketPositions, source: keyof Segments): Triple[] {
  const dayMinutes = plan.dayBounds.map((bound) => bound / 60);
  return partsOf(plan, positions, source).flatMap(([bucket, from, until]) => {
    if (source === 'days') return dayMinutes.filter((day) => from <= day && day < until).map((day) => [bucket, day, day + 1] as const);
    return Array.from({ length: until - from }, (_, index) => [bucket, from + index, from + index + 1] as const);
  });
}

export const inRange = ({ unit }: Source): string => `source.${unit} >= segments.from_unit and source.${unit} < segments.until_unit`;
export const inUnit = ({ unit }: Source): string => `source.${unit} = segments.from_unit`;

export const sumNames = ['prompt_tokens', 'completion_tokens', 'cache_tokens', 'cache_creation_tokens', 'use_time_ms'] as const;

/** The statement that adds up some buckets, without its order and limit; undefined if they have no parts. */
export function sumsOf(
  database: Database,
  plan: StatisticsPlan,
  positions: BucketPositions,
  query: StatisticsQuery,
  names: NameRange,
): { readonly parts: string; readonly parameters: readonly SqlValue[] } | undefined {
  const perUnit = query.userName !== undefined || names.after !== undefined || names.until !== undefined;
  const parts: string[] = [];
  const parameters: SqlValue[] = [];
  for (const [name, source] of sourceNames.flatMap((each) => sourcesOf(each).map((of) => [each, of] as const))) {
    const byUnit = perUnit && source.isRollUp;
    const segments = byUnit ? unitsOf(plan, positions, name) : partsOf(plan, positions, name);
    if (segments.length === 0) continue;
    const filter = filterNames(source, query, names);
    // The cross join keeps SQLite from scanning the table once and the segments for each row.
    parts.push(`select segments.bucket as bucket, source.user_name as user_name, source.${source.tokenName} as token_name,
        source.${source.modelName} as model_name, ${sumNames.join(', ')}, ${source.callCount} as call_count, amount_nano_usd
      from ${database.fragments.segments} as segments
      cross join ${source.table} as source
      where ${byUnit ? inUnit(source) : inRange(source)} ${source.condition} ${filter.conditions}`);
    parameters.push(JSON.stringify(segments), ...filter.parameters);
  }
  return parts.length === 0 ? undefined : { parts: parts.join(' union all '), parameters };
}
