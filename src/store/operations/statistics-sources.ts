import type { StatisticsQuery } from '../../billing/statistics/statistics-store.ts';
import { toStorableText } from '../storable-text.ts';
import type { SqlValue } from './sql-values.ts';
import type { Segments } from './split-buckets.ts';

/** A table to add up, with the names of its columns for the time unit and the three names. */
export type Source = {
  readonly table: string;
  readonly unit: string;
  readonly tokenName: string;
  readonly modelName: string;
  readonly callCount: string;
  readonly condition: string;
  readonly isRollUp: boolean;
  /** Length of one unit of time; undefined if units differ in length or are shorter than a second. */
  readonly unitSeconds: number | undefined;
};

const hours: Source = {
  table: 'usage_hours',
  unit: 'hour',
  tokenName: 'token_name',
  modelName: 'model_name',
  callCount: 'call_count',
  condition: '',
  isRollUp: true,
  unitSeconds: 3600,
};

/** The tables by the names of their segments. */
export const sources: Readonly<Record<keyof Segments, Source>> = {
  // The key of a day is the minute at which it begins. A day has 23 to 25 hours.
  days: { ...hours, table: 'usage_days', unit: 'day', unitSeconds: undefined },
  hours,
  minutes: { ...hours, table: 'usage_minutes', unit: 'minute', unitSeconds: 60 },
  calls: {
    table: 'calls',
    unit: 'accepted_at_ms',
    tokenName: 'key_name',
    modelName: 'requested_model',
    // 2: a part of a call that another row counts.
    callCount: 'case source.billed when 1 then 1 else 0 end',
    condition: 'and source.billed in (1, 2)',
    isRollUp: false,
    unitSeconds: undefined,
  },
};

/**
 * Rows of `calls` that were archived, for minutes that are cut. Their facts have the same columns. With `not exists`,
 * PostgreSQL would compare all facts with all calls before it looks at the span: 5 s at ten million calls.
 */
const archived: Source = {
  ...sources.calls,
  table: `(select facts.at_ms as accepted_at_ms, users.value as user_name, substr(tokens.label, length(users.value) + 2) as key_name,
      coalesce(models.value, '') as requested_model, facts.billed, facts.prompt_tokens, facts.completion_tokens, facts.cache_tokens,
      facts.cache_creation_tokens, facts.use_time_ms, facts.amount_nano_usd
    from call_facts as facts join fact_names as users on users.id = facts.user_ref join fact_names as tokens on tokens.id = facts.key_ref
      left join fact_names as models on models.id = facts.model_ref
    where facts.at_ms < (select archived_until_ms from call_retention)
      and (select 1 from calls where calls.call_id = facts.call_id) is null)`,
};

/** The tables behind a name of segments. */
export const sourcesOf = (name: keyof Segments): readonly Source[] => (name === 'calls' ? [sources.calls, archived] : [sources[name]]);

export const sourceNames = Object.keys(sources) as readonly (keyof Segments)[];

/** User, key and model, which identify a record within its bucket. */
export type Names = readonly [userName: string, tokenName: string, modelName: string];

/** A range of names: after `after`, up to and including `until`. */
export type NameRange = { readonly after?: Names | undefined; readonly until?: Names | undefined };

export type Filter = { readonly conditions: string; readonly parameters: readonly SqlValue[] };

/** Exact comparisons. There are few combinations, so there are few prepared statements. */
export function filterNames(
  source: Source,
  query: Pick<StatisticsQuery, 'userName' | 'tokenName' | 'modelName'>,
  range: NameRange = {},
): Filter {
  const conditions: string[] = [];
  const parameters: SqlValue[] = [];
  for (const [column, value] of [
    ['user_name', query.userName],
    [source.tokenName, query.tokenName],
    [source.modelName, query.modelName],
  ] as const) {
    if (value === undefined) continue;
    conditions.push(`and source.${column} = ?`);
    parameters.push(toStorableText(value));
  }
  const names = `(source.user_name, source.${source.tokenName}, source.${source.modelName})`;
  for (const [comparison, bound] of [
    ['>', range.after],
    ['<=', range.until],
  ] as const) {
    if (bound === undefined) continue;
    conditions.push(`and ${names} ${comparison} (?, ?, ?)`);
    parameters.push(...bound);
  }
  return { conditions: conditions.join(' '), parameters };
}
