import type { Body, Reply } from '../../api/client.ts';
import type { FilterField } from '../../components/filter-bar.tsx';
import { many, one, type Search } from '../../components/search-params.ts';
import type { Span } from '../../components/span.ts';
import { nanosOf, showChartMoney } from '../../format/money.ts';
import { showCount, showDuration } from '../../format/numbers.ts';
import { chartViews } from './chart-views.ts';
import { excludedPrefix, readWithout, withoutName, wordWithout } from './leave-out.ts';

type Question = Body<'usage.query'>;
export type UsageSums = Reply<'usage.query'>['totals']['total'];

/** What can be measured: its value in a sum, as a whole number. Amounts are nano-USD. */
export const metrics = {
  amount: { text: 'spend', of: ({ amount }: UsageSums) => nanosOf(amount), show: showChartMoney, rank: 'amount' },
  calls: { text: 'calls', of: ({ calls }: UsageSums) => BigInt(calls), show: (value: bigint) => showCount(Number(value)), rank: 'calls' },
  tokens_in: {
    text: 'tokens in',
    of: (sums: UsageSums) => BigInt(sums.tokens_in),
    show: (value: bigint) => showCount(Number(value)),
    rank: 'tokens_in',
  },
  tokens_out: {
    text: 'tokens out',
    of: (sums: UsageSums) => BigInt(sums.tokens_out),
    show: (value: bigint) => showCount(Number(value)),
    rank: 'tokens_out',
  },
  use_time: {
    text: 'time in use',
    of: (sums: UsageSums) => BigInt(sums.use_time_ms),
    show: (value: bigint) => showDuration(Number(value)),
    rank: 'use_time',
  },
} as const;
export type MetricName = keyof typeof metrics;

export const groupings = ['user', 'key', 'model', 'team', 'upstream', 'upstream_model', 'interface', 'end'] as const;
const isGrouping = (name: string): boolean => (groupings as readonly string[]).includes(name) || name.startsWith('tag:');
export const granularities = ['auto', 'minute', 'hour', 'day', 'week', 'month'] as const;
export const tops = ['8', '12', '20', '50'] as const;

const usageFilters: readonly FilterField[] = [
  { name: 'user', text: 'user', repeats: true },
  { name: 'key', text: 'key', repeats: true, placeholder: 'ann/app' },
  { name: 'key_id', text: 'key id', repeats: true, placeholder: 'id of a key' },
  { name: 'model', text: 'model', repeats: true },
  { name: 'team', text: 'team', repeats: true },
  { name: 'tag', text: 'tag', repeats: true, placeholder: 'project=blue' },
  { name: 'upstream', text: 'upstream', repeats: true },
  { name: 'upstream_model', text: 'upstream model', repeats: true },
  { name: 'interface', text: 'interface', repeats: true },
  { name: 'end', text: 'end', values: ['finished', 'client-left', 'cut', 'failed', 'lost'], repeats: true },
];

const readOneOf = <Name extends string>(names: readonly Name[], text: string | undefined, fallback: Name): Name =>
  names.find((name) => name === text) ?? fallback;

export const readMetric = (search: Search): MetricName => readOneOf(Object.keys(metrics) as MetricName[], one(search, 'metric'), 'amount');
export const readGranularity = (search: Search) => readOneOf(granularities, one(search, 'per'), 'auto');
export const readView = (search: Search) => readOneOf(chartViews, one(search, 'view'), 'sums');
export const readTop = (search: Search) => readOneOf(tops, one(search, 'top'), '12');

/** At most two groupings: `by`, and `and`. */
export function readGroups(search: Search): readonly string[] {
  const [first = 'model', second] = [one(search, 'by'), one(search, 'and')];
  return [first, ...(second === undefined || second === first ? [] : [second])].filter(isGrouping);
}

/** The filters of the page, those that select and those that exclude. */
export const usageFilterFields: readonly FilterField[] = [
  ...usageFilters,
  ...usageFilters.map((field) => ({ ...field, name: `${excludedPrefix}${field.name}`, text: `not ${field.text}` })),
  { name: withoutName, text: 'without', show: wordWithout },
];

function readNames(fields: readonly FilterField[], search: Search, prefix: string): NonNullable<Question['filters']> {
  return Object.fromEntries(
    fields.flatMap(({ name }) => {
      const values = many(search, `${prefix}${name}`);
      return values.length === 0 ? [] : [[name, values]];
    }),
  );
}

/** The whole question of the page, as the address has it. The export asks the same one. */
export function readQuestion(search: Search, { from, to }: Span, zone: string): Question {
  const filters = readNames(usageFilters, search, '');
  const excluded = readNames(usageFilters, search, excludedPrefix);
  const without = readWithout(
    search,
    usageFilters.map(({ name }) => name),
  );
  const compare = one(search, 'compare');
  return {
    from,
    to,
    time_zone: zone,
    granularity: readGranularity(search),
    group_by: readGroups(search),
    limit: Number(readTop(search)),
    rank_by: metrics[readMetric(search)].rank,
    ...(Object.keys(filters).length > 0 && { filters }),
    ...(Object.keys(excluded).length > 0 && { exclude: excluded }),
    ...(without.length > 0 && { exclude_groups: without }),
    ...((compare === 'previous' || compare === 'year') && { compare }),
  };
}
