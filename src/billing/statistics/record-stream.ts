import { type BillingRecord, BillingSums, type BillingTotals, createRecordEncoder } from './billing-record.ts';
import { type StatisticsScope, StatisticsUnavailableError, assertScope, tooManyRecords } from './statistics.ts';
import type { AnswerSource, StatisticsQuery, StatisticsRow } from './statistics-store.ts';

/** The records of an answer, read as they are consumed. */
export type RecordStream = {
  /** Can be read once. Rejects if the store does. */
  readonly batches: AsyncIterable<readonly BillingRecord[]>;
  /** The sums of the records that were read so far. */
  readonly totals: () => BillingTotals;
};

/**
 * Begins to read the records of a query: resolves when the first of them exist, so that an answer that begins then
 * probably ends well. Rejects with StatisticsRefusedError and StatisticsUnavailableError.
 */
export async function openRecords(
  reading: Pick<AnswerSource, 'hasTooManyRecords' | 'readRows'>,
  query: StatisticsQuery,
  scope: StatisticsScope,
  timeZone: string,
): Promise<RecordStream> {
  if (await orUnavailable(reading.hasTooManyRecords(query))) throw tooManyRecords(query.rowsMax);
  const rows = reading.readRows(query)[Symbol.asyncIterator]();
  const first = await orUnavailable(rows.next());
  const sums = new BillingSums();
  return { batches: encodeBatches(first, rows, { scope, timeZone, sums }), totals: () => sums.totals() };
}

type Encoding = { readonly scope: StatisticsScope; readonly timeZone: string; readonly sums: BillingSums };

async function* encodeBatches(
  first: IteratorResult<readonly StatisticsRow[]>,
  rows: AsyncIterator<readonly StatisticsRow[]>,
  { scope, timeZone, sums }: Encoding,
): AsyncGenerator<readonly BillingRecord[]> {
  const encode = createRecordEncoder(timeZone);
  try {
    for (let batch = first; batch.done !== true; batch = await rows.next()) {
      assertScope(batch.value, scope);
      for (const row of batch.value) sums.add(row);
      yield batch.value.map(encode);
    }
  } finally {
    await rows.return?.();
  }
}

/** Converts a failure of the store to StatisticsUnavailableError. */
export async function orUnavailable<Result>(work: Promise<Result>): Promise<Result> {
  try {
    return await work;
  } catch (cause) {
    throw new StatisticsUnavailableError(cause);
  }
}
