import { formatMoney } from '../receipts/exact-text.ts';
import { exactNumber } from '../statistics/exact-number.ts';
import { usdDecimal } from '../statistics/usd-decimal.ts';
import type { CellKind, TableRow } from '../workbook/cell.ts';
import { writeTable } from '../workbook/write-table.ts';
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

/** What an export writes of an answer. */
type ExportedUsage = Pick<UsageAnswer, 'bucketStarts' | 'series' | 'other' | 'totals'>;

type Cell = string | number | undefined;

/** The kinds of the columns of a workbook; the others are texts. Amounts keep all their digits. */
const kinds: Readonly<Record<string, CellKind>> = {
  ...Object.fromEntries(Object.keys(sums).map((name) => [name, 'count'])),
  amount_nano_usd: 'text',
  amount_usd: 'amount',
};

type Row = { readonly cells: readonly Cell[]; readonly of: UsageSums };

/**
 * The rows of an answer, as the console shows them: each bucket of each series, then those of all other groups
 * together. The column `group` tells them apart, so that a group whose name is `other` is not mistaken. The sums of all
 * rows are the totals. Without grouping the rows are the totals.
 */
export function* exportUsage(
  answer: ExportedUsage,
  groupBy: readonly UsageDimension[],
  format: 'csv' | 'jsonl',
): Generator<string, void, undefined> {
  const header = columnsOf(groupBy);
  if (format === 'csv') yield `${header.join(',')}\r\n`;
  const write = ({ cells }: Row): string =>
    format === 'csv'
      ? `${cells.map(toCell).join(',')}\r\n`
      : `${JSON.stringify(Object.fromEntries(header.map((name, place) => [name, cells[place] ?? null])))}\n`;
  for (const rows of listRows(answer, groupBy)) yield rows.map(write).join('');
}

/** The same rows as a workbook, byte by byte. Amounts are exact numbers, and nothing is a formula. */
export function exportUsageWorkbook(
  answer: ExportedUsage,
  groupBy: readonly UsageDimension[],
  nowMs: number,
): AsyncGenerator<Buffer, undefined> {
  const header = columnsOf(groupBy);
  const toRow = ({ cells, of }: Row): TableRow => ({
    ...Object.fromEntries(header.map((name, place) => [name, cells[place]])),
    amount_usd: exactNumber(usdDecimal(of.amountNanoUsd)),
  });
  function* rows(): Generator<readonly TableRow[]> {
    for (const line of listRows(answer, groupBy)) yield line.map(toRow);
  }
  const columns = header.map((field) => ({ field, kind: kinds[field] ?? 'text' }));
  return writeTable({ name: 'Usage', title: 'Usage', columns, rows: rows(), modifiedAtMs: nowMs });
}

/** The columns that name a group, and the sums. */
function columnsOf(groupBy: readonly UsageDimension[]): readonly string[] {
  return ['start', 'group', ...namesOf(groupBy), ...Object.keys(sums)];
}

function namesOf(groupBy: readonly UsageDimension[]): readonly string[] {
  return groupBy.flatMap((dimension) =>
    dimension === 'key' ? ['key_user', 'key'] : [dimension.replace('upstreamModel', 'upstream_model')],
  );
}

/** The rows of each series, and of the rest. */
function* listRows(
  { bucketStarts, series, other, totals }: ExportedUsage,
  groupBy: readonly UsageDimension[],
): Generator<readonly Row[], void, undefined> {
  const rowsOf = (line: UsageLine, group: string, names: readonly Cell[]): readonly Row[] =>
    line.buckets.map((of, place) => {
      const start = new Date((bucketStarts[place] ?? 0) * 1000).toISOString();
      return { of, cells: [start, group, ...names, ...Object.values(sums).map((read) => read(of))] };
    });
  for (const line of series) yield rowsOf(line, 'series', line.names);
  const rest = namesOf(groupBy).map(() => undefined);
  if (other !== undefined) yield rowsOf(other, 'other', rest);
  else yield rowsOf(totals, 'total', rest);
}
