import { queryUsageSums } from '../../../admin/resources/usage/usage-operations.ts';
import { granularityNames } from '../../../billing/statistics/granularity.ts';
import { exportUsage } from '../../../billing/usage/export-usage.ts';
import type { UsageLine } from '../../../billing/usage/usage-question.ts';
import { systemClock } from '../../../platform/clock.ts';
import { type Environment, StartError } from '../../environment.ts';
import { withService } from '../remote/with-service.ts';
import { alignColumns } from '../with-accounts.ts';
import { printTexts } from './print-texts.ts';
import { readGranularity, readSpan } from './read-span.ts';
import type { UsageOptions } from './show-usage.ts';
import { instantOf, readStatisticsZone } from './statistics-zone.ts';
import { inert } from './terminal-text.ts';

/** Options that ask for groups, or for calls that the statistics cannot select. */
export type GroupOptions = {
  readonly groupBy?: string;
  readonly team?: readonly string[];
  readonly tag?: readonly string[];
};

const dimensions: Readonly<Record<string, Group>> = {
  user: 'user',
  key: 'key',
  model: 'model',
  team: 'team',
  upstream: 'upstream',
  'upstream-model': 'upstream_model',
  interface: 'interface',
  end: 'end',
};
/** Groups with a row of their own; the rest is together. */
const groupsMax = 50;

/** Whether the options ask for what only `showGroups` answers. */
export function asksForGroups({ groupBy, team, tag }: GroupOptions): boolean {
  return groupBy !== undefined || team !== undefined || tag !== undefined;
}

/**
 * Prints usage by up to two names, such as a tag or the team: as a table of the whole span, or as JSON or CSV with a
 * row for each bucket.
 * @throws StartError
 */
export async function showGroups(environment: Environment, { remote, ...options }: UsageOptions & GroupOptions): Promise<void> {
  if (options.json === true && options.csv === true) throw new StartError('--json and --csv exclude each other');
  if (options.token !== undefined) throw new StartError('--token cannot be used with --group-by, --team and --tag; use --group-by key');
  const by = readGranularity(options.by);
  const group_by = readGroups(options.groupBy);
  const isTable = options.json !== true && options.csv !== true;
  const place = { reads: true, readsZone: true, ...(remote !== undefined && { remote }) };
  const answer = await withService(environment, place, async (service) => {
    const { timeZone: time_zone } = await readStatisticsZone(service);
    const span = readSpan(options, by, time_zone, systemClock.nowMs());
    const question: Question = {
      from: instantOf(span.startSeconds),
      to: instantOf(span.endSeconds),
      time_zone,
      granularity: isTable ? 'none' : granularityNames[by],
      group_by: [...group_by],
      filters: readFilters(options),
      limit: groupsMax,
      rank_by: 'amount',
    };
    return (await service.call(queryUsageSums, { body: question })).body;
  });
  if (isTable) return await printTexts(process.stdout, [describeGroups(answer, group_by), '\n']);
  const rows = exportUsage(decodeAnswer(answer), group_by.map(dimensionOf), options.csv === true ? 'csv' : 'jsonl');
  if (options.csv === true) return await printTexts(process.stdout, rows);
  const lines = [...rows].join('').trim().split('\n');
  const parsed = lines.map((line) => JSON.parse(line) as unknown);
  return await printTexts(process.stdout, [JSON.stringify(parsed, undefined, 2), '\n']);
}

const dimensionOf = (group: Group) => (group === 'upstream_model' ? 'upstreamModel' : group);

/** The sums of an answer that exports write. */
function decodeAnswer({ bucket_starts, totals, series, other }: Answer): Parameters<typeof exportUsage>[0] {
  return {
    bucketStarts: bucket_starts.map((start) => Date.parse(start) / 1000),
    totals: decodeLine(totals),
    series: series.map((line) => ({ names: line.names, ...decodeLine(line) })),
    ...(other !== null && { other: decodeLine(other) }),
  };
}

function decodeLine({ total, buckets }: Answer['totals']): UsageLine {
  const decode = (sums: typeof total): UsageLine['total'] => ({
    amountNanoUsd: BigInt(sums.amount.nano_usd),
    calls: sums.calls,
    tokensIn: sums.tokens_in,
    tokensOut: sums.tokens_out,
    cacheRead: sums.cache_read,
    cacheWrite: sums.cache_write,
    useTimeMs: sums.use_time_ms,
    ...(sums.failed !== null && { failed: sums.failed }),
    ...(sums.cut !== null && { cut: sums.cut }),
  });
  return { total: decode(total), buckets: buckets.map(decode) };
}

type Question = NonNullable<typeof queryUsageSums.types>['body'];
type Answer = NonNullable<typeof queryUsageSums.types>['reply'];
type Group = NonNullable<Question['group_by']>[number];

function readFilters({ user, model, team, tag }: UsageOptions & GroupOptions): NonNullable<Question['filters']> {
  return {
    ...(user !== undefined && { user: [user] }),
    ...(model !== undefined && { model: [model] }),
    ...(team !== undefined && { team: [...team] }),
    ...(tag !== undefined && { tag: [...tag] }),
  };
}

/** The names of `--group-by`. @throws StartError */
function readGroups(text: string | undefined): readonly Group[] {
  if (text === undefined) return [];
  const groups = text.split(',').map((word): Group => {
    const name = word.trim();
    if (/^tag:[a-z][a-z0-9_-]{0,31}$/.test(name)) return name as `tag:${string}`;
    const known = Object.hasOwn(dimensions, name) ? dimensions[name] : undefined;
    if (known !== undefined) return known;
    throw new StartError(`--group-by must be ${Object.keys(dimensions).join(', ')} or tag:<name>, at most two of them; got "${name}"`);
  });
  if (groups.length <= 2 && new Set(groups).size === groups.length) return groups;
  throw new StartError('--group-by takes at most two different names');
}

/** A table of groups, the greatest cost first, with the rest and the total below. */
function describeGroups({ series, other, totals, pending_calls: waiting }: Answer, groupBy: readonly Group[]): string {
  const names = groupBy.flatMap((dimension) => (dimension === 'key' ? ['KEY OF', 'KEY'] : [titleOf(dimension)]));
  const row = (words: readonly string[], sums: Answer['totals']['total']): readonly string[] => [
    ...words,
    String(sums.calls),
    String(sums.tokens_in),
    String(sums.tokens_out),
    sums.amount.usd,
  ];
  const label = (word: string): readonly string[] => [word, ...names.slice(1).map(() => '')];
  const rows = [
    ...series.map(({ names: words, total }) =>
      row(
        words.map((word) => (word === '' ? '(none)' : inert(word))),
        total,
      ),
    ),
    ...(other === null || other.total.calls === 0 ? [] : [row(label('(other)'), other.total)]),
  ];
  const total = names.length === 0 ? row([], totals.total) : row(label('TOTAL'), totals.total);
  return [
    ...alignColumns([[...names, 'CALLS', 'TOKENS IN', 'TOKENS OUT', 'USD'], ...rows, total]),
    ...(waiting === 0 ? [] : [`${waiting} booked calls are not counted yet`]),
  ].join('\n');
}

const titleOf = (dimension: Group): string =>
  dimension.startsWith('tag:') ? dimension.slice('tag:'.length).toUpperCase() : dimension.replace('_', ' ').toUpperCase();
