import { readLabels } from '../../../admin/contract/labels.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { granularityNames } from '../../../billing/statistics/granularity.ts';
import { exportUsage } from '../../../billing/usage/export-usage.ts';
import { queryUsage } from '../../../billing/usage/query-usage.ts';
import { type UsageAnswer, UsageRefusedError } from '../../../billing/usage/usage-question.ts';
import type { UsageDimension, UsageSums } from '../../../billing/usage/usage-store.ts';
import { systemClock } from '../../../platform/clock.ts';
import { openDatabase } from '../../assembly/open-data-directory.ts';
import { loadConfig } from '../../config/load-config.ts';
import { type Environment, StartError } from '../../environment.ts';
import { alignColumns } from '../with-accounts.ts';
import { printTexts } from './print-texts.ts';
import { readGranularity, readSpan } from './read-span.ts';
import type { UsageOptions } from './show-usage.ts';
import { inert } from './terminal-text.ts';

/** Options that ask for groups, or for calls that the statistics cannot select. */
export type GroupOptions = {
  readonly groupBy?: string;
  readonly team?: readonly string[];
  readonly tag?: readonly string[];
};

const dimensions: Readonly<Record<string, UsageDimension>> = {
  user: 'user',
  key: 'key',
  model: 'model',
  team: 'team',
  upstream: 'upstream',
  'upstream-model': 'upstreamModel',
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
export async function showGroups(environment: Environment, options: UsageOptions & GroupOptions): Promise<void> {
  if (options.json === true && options.csv === true) throw new StartError('--json and --csv exclude each other');
  if (options.token !== undefined) throw new StartError('--token cannot be used with --group-by, --team and --tag; use --group-by key');
  const { config } = loadConfig(environment.configPath, environment.variable);
  const timeZone = config.timeZone ?? 'UTC';
  const by = readGranularity(options.by);
  const span = readSpan(options, by, timeZone, systemClock.nowMs());
  const groupBy = readGroups(options.groupBy);
  const isTable = options.json !== true && options.csv !== true;
  const question = {
    ...span,
    timeZone,
    granularity: isTable ? 'none' : granularityNames[by],
    extra: [],
    groupBy,
    filter: {
      ...(options.user !== undefined && { users: [options.user.normalize('NFC')] }),
      ...(options.model !== undefined && { models: [options.model] }),
      ...readLabels(options),
    },
    scope: 'all',
    limit: groupsMax,
    rankBy: 'amount',
  } as const;
  const answer = await ask(environment, question);
  if (options.csv === true) return await printTexts(process.stdout, exportUsage(answer, groupBy, 'csv'));
  if (options.json === true) {
    const rows = [...exportUsage(answer, groupBy, 'jsonl')].join('').trim().split('\n');
    return await printTexts(process.stdout, [
      JSON.stringify(
        rows.map((row) => JSON.parse(row) as unknown),
        undefined,
        2,
      ),
      '\n',
    ]);
  }
  return await printTexts(process.stdout, [describeGroups(answer, groupBy), '\n']);
}

async function ask(environment: Environment, question: Parameters<typeof queryUsage>[1]): Promise<UsageAnswer> {
  const store = await openDatabase(environment, { readOnly: true });
  try {
    return await queryUsage(store, question, systemClock.nowMs());
  } catch (error) {
    if (error instanceof UsageRefusedError) throw new StartError(error.message, { cause: error });
    throw error;
  } finally {
    await store.close();
  }
}

/** The names of `--group-by`. @throws StartError */
function readGroups(text: string | undefined): readonly UsageDimension[] {
  if (text === undefined) return [];
  const groups = text.split(',').map((word): UsageDimension => {
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
function describeGroups({ series, other, totals, progress }: UsageAnswer, groupBy: readonly UsageDimension[]): string {
  const names = groupBy.flatMap((dimension) => (dimension === 'key' ? ['KEY OF', 'KEY'] : [titleOf(dimension)]));
  const row = (words: readonly string[], sums: UsageSums): readonly string[] => [
    ...words,
    String(sums.calls),
    String(sums.tokensIn),
    String(sums.tokensOut),
    formatMoney(sums.amountNanoUsd).usd,
  ];
  const label = (word: string): readonly string[] => [word, ...names.slice(1).map(() => '')];
  const rows = [
    ...series.map(({ names: words, total }) =>
      row(
        words.map((word) => (word === '' ? '(none)' : inert(word))),
        total,
      ),
    ),
    ...(other === undefined || other.total.calls === 0 ? [] : [row(label('(other)'), other.total)]),
  ];
  const total = names.length === 0 ? row([], totals.total) : row(label('TOTAL'), totals.total);
  const waiting = (progress?.waiting ?? 0) + (progress?.old ?? 0);
  return [
    ...alignColumns([[...names, 'CALLS', 'TOKENS IN', 'TOKENS OUT', 'USD'], ...rows, total]),
    ...(waiting === 0 ? [] : [`${waiting} booked calls are not counted yet`]),
  ].join('\n');
}

const titleOf = (dimension: UsageDimension): string =>
  dimension.startsWith('tag:')
    ? dimension.slice('tag:'.length).toUpperCase()
    : dimension.replace('upstreamModel', 'upstream model').toUpperCase();
