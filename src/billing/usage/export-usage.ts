import { formatMoney } from '../receipts/exact-text.ts';
import { toCell } from '../calls/export-calls.ts';
import type { UsageAnswer, UsageLine } from './usage-question.ts';
import type { UsageDimension, UsageSums } from './usage-store.ts';

const sums = {
  calls: (of) => of.calls,
  tokens_in: (of) => of.tokensIn,
  tokens_out: (of) => of.tokensOut,
  cache_read: (of) => of.cacheRead,
  cache_write: (of) => of.cacheWrite,
  use_time_ms: (of) => Math.round(of.useTimeMs),
  failed: (of) => of.failed,
  cut: (of) => of.cut,
  amount_nano_usd: (of) => of.amountNanoUsd.toString(),
  amount_usd: (of) => formatMoney(of.amountNanoUsd).usd,
} as const satisfies Readonly<Record<string, (of: UsageSums) => string | number | undefined>>;

type Cell = string | number | undefined;

/**
 * The rows of an answer, as the console shows them: each bucket of each series, then those of all other groups
 * together. The column `group` tells them apart, so that a group whose name is `other` is not mistaken. The sums of all
 * rows are the totals. Without grouping the rows are the totals.
 */
export function* exportUsage(
  { bucketStarts, series, other, totals }: UsageAnswer,
  groupBy: readonly UsageDimension[],
  format: 'csv' | 'jsonl',
): Generator<string, void, undefined> {
  const columns = groupBy.flatMap((dimension) => (dimension === 'key' ? ['key_user', 'key'] : [columnOf(dimension)]));
  const header = ['start', 'group', ...columns, ...Object.keys(sums)];
  if (format === 'csv') yield `${header.join(',')}\r\n`;
  const write = (cells: readonly Cell[]): string =>
    format === 'csv'
      ? `${cells.map(toCell).join(',')}\r\n`
      : `${JSON.stringify(Object.fromEntries(header.map((name, place) => [name, cells[place] ?? null])))}\n`;
  const rowsOf = (line: UsageLine, group: string, names: readonly Cell[]): string =>
    line.buckets
      .map((of, place) => {
        const start = new Date((bucketStarts[place] ?? 0) * 1000).toISOString();
        return write([start, group, ...names, ...Object.values(sums).map((read) => read(of))]);
      })
      .join('');
  for (const line of series) yield rowsOf(line, 'series', line.names);
  const rest = columns.map(() => undefined);
  if (other !== undefined) yield rowsOf(other, 'other', rest);
  else yield rowsOf(totals, 'total', rest);
}

const columnOf = (dimension: UsageDimension): string => dimension.replace('upstreamModel', 'upstream_model');
