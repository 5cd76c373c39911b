import { exactNumber } from '../statistics/exact-number.ts';
import { usdDecimal } from '../statistics/usd-decimal.ts';
import type { TableRow } from '../workbook/cell.ts';
import { writeTable } from '../workbook/write-table.ts';
import type { StatementRecord, StatementSpan } from './credit-books.ts';

const columns = [
  { field: 'date', kind: 'text' },
  { field: 'kind', kind: 'text' },
  { field: 'what', kind: 'text' },
  { field: 'note', kind: 'text' },
  { field: 'by', kind: 'text' },
  { field: 'amount_usd', kind: 'amount' },
] as const;

/**
 * A statement as a workbook: opening, every posting, the usage of each day, and closing. Amounts are exact numbers, and
 * nothing is a formula. Opening and all rows between are closing.
 */
export function exportStatement(
  record: StatementRecord,
  { fromMs, toMs }: Omit<StatementSpan, 'owner'>,
  { title, nowMs }: { readonly title: string; readonly nowMs: number },
): AsyncGenerator<Buffer, undefined> {
  const amount = (nanoUsd: bigint) => ({ amount_usd: exactNumber(usdDecimal(nanoUsd)) });
  const at = (ms: number): string => new Date(ms).toISOString();
  const rows: readonly TableRow[] = [
    { date: at(fromMs), kind: 'opening', ...amount(record.openingNanoUsd) },
    ...record.postings.map((posting) => ({
      date: at(posting.postedAtMs),
      kind: posting.kind,
      what: posting.callId ?? posting.transactionId,
      note: posting.note,
      by: posting.actor,
      ...amount(posting.amountNanoUsd),
    })),
    ...record.usage.map(({ day, amountNanoUsd }) => ({ date: day, kind: 'usage', ...amount(amountNanoUsd) })),
    { date: at(toMs), kind: 'closing', ...amount(record.closingNanoUsd) },
  ];
  return writeTable({ name: 'Statement', title, columns: [...columns], rows: [rows], modifiedAtMs: nowMs });
}
