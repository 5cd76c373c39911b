import { formatTags } from '../../accounts/call-tags.ts';
import { formatMoney } from '../receipts/exact-text.ts';
import { exactNumber } from '../statistics/exact-number.ts';
import { usdDecimal } from '../statistics/usd-decimal.ts';
import type { CellKind, TableRow } from '../workbook/cell.ts';
import { writeTable } from '../workbook/write-table.ts';
import type { CallFactsStore, CallFilter, CallPlace, CallSummary, UserScope } from './call-facts-store.ts';

/** Calls of one page, which is one piece of the export. */
const pageRows = 500;
/** The longest time for one page, in which the store answers nobody else. */
const workMs = 60;

const columns = {
  call_id: (call) => call.callId,
  accepted_at: (call) => new Date(call.atMs).toISOString(),
  user: (call) => call.userName,
  key_id: (call) => call.keyId,
  key: (call) => call.keyName,
  model: (call) => call.model,
  served_model: (call) => call.servedModel,
  upstream: (call) => call.upstream,
  upstream_model: (call) => call.upstreamModel,
  interface: (call) => call.interface,
  team: (call) => call.team,
  tags: (call) => (call.tags === undefined ? undefined : formatTags(call.tags)),
  end: (call) => call.end,
  error_code: (call) => call.errorCode,
  status: (call) => call.status,
  flags: (call) => call.flags.join(' '),
  prompt_tokens: (call) => call.promptTokens,
  completion_tokens: (call) => call.completionTokens,
  first_byte_ms: (call) => call.firstByteMs,
  duration_ms: (call) => call.durationMs,
  amount_nano_usd: (call) => call.amountNanoUsd.toString(),
  amount_usd: (call) => formatMoney(call.amountNanoUsd).usd,
} as const satisfies Readonly<Record<string, (call: CallSummary) => string | number | undefined>>;

const readers = Object.entries(columns);

/** The kinds of the columns of a workbook; all others are texts. Amounts keep all their digits. */
const kinds: Readonly<Partial<Record<keyof typeof columns, CellKind>>> = {
  status: 'number',
  prompt_tokens: 'count',
  completion_tokens: 'count',
  first_byte_ms: 'number',
  duration_ms: 'number',
  amount_usd: 'amount',
};

export type CallExport = { readonly filter: CallFilter; readonly scope: UserScope; readonly format: 'csv' | 'jsonl' };

/**
 * All calls that a filter selects, newest first, as pieces of text with whole lines: CSV with a header (RFC 4180), or
 * JSON Lines, in which absent values are null. One page is in memory at a time, and the next is read when a piece was
 * taken. Calls that are booked meanwhile may be missing, and none comes twice. Rejects with the store's error.
 * @param signal ends the export between two pages
 */
export async function* exportCalls(
  store: Pick<CallFactsStore, 'scanCalls'>,
  { filter, scope, format }: CallExport,
  signal: AbortSignal,
): AsyncGenerator<string, void, undefined> {
  if (format === 'csv') yield `${readers.map(([name]) => name).join(',')}\r\n`;
  const write = format === 'csv' ? toCsvLine : toJsonLine;
  for await (const calls of readPages(store, { filter, scope }, signal)) yield calls.map(write).join('');
}

/**
 * The same calls as a workbook, byte by byte: sheets `Calls`, `Calls 2` and so on, as far as a sheet has room. Amounts
 * are exact numbers, and nothing is a formula.
 */
export function exportCallsWorkbook(
  store: Pick<CallFactsStore, 'scanCalls'>,
  { filter, scope }: Omit<CallExport, 'format'>,
  { signal, nowMs, rowsPerSheet }: { readonly signal: AbortSignal; readonly nowMs: number; readonly rowsPerSheet?: number },
): AsyncGenerator<Buffer, undefined> {
  async function* rows(): AsyncGenerator<readonly TableRow[]> {
    for await (const calls of readPages(store, { filter, scope }, signal)) yield calls.map(toRow);
  }
  return writeTable({
    name: 'Calls',
    title: 'Calls',
    columns: readers.map(([name]) => ({ field: name, kind: kinds[name as keyof typeof columns] ?? 'text' })),
    rows: rows(),
    modifiedAtMs: nowMs,
    ...(rowsPerSheet !== undefined && { rowsPerSheet }),
  });
}

function toRow(call: CallSummary): TableRow {
  return {
    ...Object.fromEntries(readers.map(([name, read]) => [name, read(call)])),
    amount_usd: exactNumber(usdDecimal(call.amountNanoUsd)),
  };
}

/** The calls of a filter, page by page. */
async function* readPages(
  store: Pick<CallFactsStore, 'scanCalls'>,
  { filter, scope }: Omit<CallExport, 'format'>,
  signal: AbortSignal,
): AsyncGenerator<readonly CallSummary[], void, undefined> {
  for (let after: CallPlace | undefined; ;) {
    signal.throwIfAborted();
    const { calls, next } = await store.scanCalls({ filter, scope, limit: pageRows, workMs, ...(after === undefined ? {} : { after }) });
    if (calls.length > 0) yield calls;
    if (next === undefined) return;
    after = next;
  }
}

function toJsonLine(call: CallSummary): string {
  return `${JSON.stringify(Object.fromEntries(readers.map(([name, read]) => [name, read(call) ?? null])))}\n`;
}

function toCsvLine(call: CallSummary): string {
  return `${readers.map(([, read]) => toCell(read(call))).join(',')}\r\n`;
}

/**
 * A text that begins like a formula is quoted with a leading apostrophe: spreadsheets then show it and compute
 * nothing.
 */
export function toCell(value: string | number | undefined): string {
  if (value === undefined) return '';
  const text = typeof value === 'string' && /^[=+\-@\t\r]/.test(value) && !/^-?\d+(\.\d+)?$/.test(value) ? `'${value}` : String(value);
  return /[",\r\n']/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}
