import type { BilledCallRecord } from '../../billing/statistics/billed-call-record.ts';
import { type BillingRecord, billingRecordFields } from '../../billing/statistics/billing-record.ts';
import type { Cell, CellKind, SheetColumn } from '../../billing/workbook/cell.ts';

export type TableRow = Readonly<Record<string, Cell>>;

export type Column<Row> = SheetColumn<Row> & {
  /** One or two sentences for readers of the column. */
  readonly meaning: string;
};

type Described<Row> = Readonly<Record<keyof Row & string, readonly [kind: CellKind, meaning: string]>>;

const bill: Described<BillingRecord> = {
  time: ['text', 'Bucket start by the clock of the configured time zone. It may lie before startTime.'],
  timeGroup: ['number', 'Bucket start as Unix seconds.'],
  userName: ['text', 'Login name of the user.'],
  tokenName: ['text', 'Name of the API key.'],
  modelName: ['text', 'Model as the caller named it.'],
  totalPromptTokens: ['count', 'All input tokens. Cache reads and cache writes are parts of it.'],
  totalCompletionTokens: ['count', 'All output tokens, reasoning included.'],
  totalCacheTokens: ['count', 'Input tokens read from a cache.'],
  totalCacheCreationTokens: ['count', 'Input tokens written to a cache.'],
  totalUseTime: ['count', 'Total duration of the calls in whole seconds: the sum of the milliseconds, rounded down.'],
  callCount: ['count', 'Answered calls. A call counts once, however many attempts it needed.'],
  totalAmount: ['amount', 'Cost in USD: a decimal number with at most nine decimals, never in exponent form.'],
};

/** The columns of the statistics, in the contract's order. */
export const billColumns: readonly Column<BillingRecord>[] = billingRecordFields.map((field) => createColumn(bill, field));

const calls: Described<BilledCallRecord> = {
  requestId: ['text', 'The id of the request, as in its answer.'],
  time: ['local-time', 'When the request was accepted, by the clock of the configured time zone.'],
  timeMs: ['number', 'The same moment in Unix milliseconds.'],
  userName: ['text', 'Login name of the user.'],
  tokenName: ['text', 'Name of the API key.'],
  modelName: ['text', 'Model as the caller named it.'],
  promptTokens: ['count', 'All input tokens. Cache reads and cache writes are parts of it.'],
  completionTokens: ['count', 'All output tokens, reasoning included.'],
  cacheTokens: ['count', 'Input tokens read from a cache.'],
  cacheCreationTokens: ['count', 'Input tokens written to a cache.'],
  useTimeMs: ['count', 'Milliseconds from acceptance to the end.'],
  callCount: ['number', '1 for a call, 0 for a part of one: a further round of its tools, or their cost.'],
  amount: ['amount', 'Cost in USD.'],
  estimated: ['boolean', 'Whether any count is an estimate rather than what the upstream reported.'],
  end: ['text', 'finished; client-left: the client disconnected; cut: the reply was interrupted; lost: the gateway died during the call.'],
  priceVersion: ['text', 'Version of the price book that priced it.'],
};

/** The columns of the detail, in order. */
export const callColumns: readonly Column<BilledCallRecord>[] = (Object.keys(calls) as (keyof BilledCallRecord)[]).map((field) =>
  createColumn(calls, field),
);

function createColumn<Row>(described: Described<Row>, field: keyof Row & string): Column<Row> {
  const [kind, meaning] = described[field];
  return { field, kind, meaning };
}

/** The description of a column of the statistics. */
export function billMeaning(field: keyof BillingRecord): string {
  return bill[field][1];
}

/** The description of a column of the detail. */
export function callMeaning(field: keyof BilledCallRecord): string {
  return calls[field][1];
}
