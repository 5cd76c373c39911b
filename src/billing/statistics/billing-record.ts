import type { StatisticsRow } from './statistics-store.ts';
import { type ExactNumber, exactNumber } from './exact-number.ts';
import { formatBucketTime } from './format-bucket-time.ts';
import { usdDecimal } from './usd-decimal.ts';

/** The contract's billing statistics record (A 2.3), fields in its order. */
export type BillingRecord = {
  /** Bucket start in the time zone of the statistics: `YYYY-MM-DD HH:MM:SS`. */
  readonly time: string;
  /** Bucket start as Unix seconds. */
  readonly timeGroup: number;
  readonly userName: string;
  readonly tokenName: string;
  readonly modelName: string;
  /** All input tokens; the two cache counts are parts of it. */
  readonly totalPromptTokens: number;
  readonly totalCompletionTokens: number;
  readonly totalCacheTokens: number;
  readonly totalCacheCreationTokens: number;
  /** Whole seconds: the milliseconds of all calls, divided once and rounded down. */
  readonly totalUseTime: number;
  readonly callCount: number;
  /** USD with at most nine decimals. */
  readonly totalAmount: ExactNumber;
};

/** Names of the record's fields, in the contract's order. */
export const billingRecordFields = [
  'time',
  'timeGroup',
  'userName',
  'tokenName',
  'modelName',
  'totalPromptTokens',
  'totalCompletionTokens',
  'totalCacheTokens',
  'totalCacheCreationTokens',
  'totalUseTime',
  'callCount',
  'totalAmount',
] as const satisfies readonly (keyof BillingRecord)[];

/** The sums of all records of an answer, from the values as shown. */
export type BillingTotals = Omit<BillingRecord, 'time' | 'timeGroup' | 'userName' | 'tokenName' | 'modelName'>;

/** The records of an answer. They are created one by one as they are consumed, because an answer may have a million. */
export type BillingRecords = Iterable<BillingRecord> & {
  readonly count: number;
  /** Computed when called. */
  readonly totals: () => BillingTotals;
};

export function encodeBillingRecords(rows: readonly StatisticsRow[], timeZone: string): BillingRecords {
  return {
    count: rows.length,
    *[Symbol.iterator]() {
      const encode = createRecordEncoder(timeZone);
      for (const row of rows) yield encode(row);
    },
    totals: () => {
      const sums = new BillingSums();
      for (const row of rows) sums.add(row);
      return sums.totals();
    },
  };
}

/** Adds up rows by the values of their records. */
export class BillingSums {
  readonly #sums = { promptTokens: 0, completionTokens: 0, cacheTokens: 0, cacheCreationTokens: 0, useTime: 0, callCount: 0 };
  #amountNanoUsd = 0n;

  add(row: StatisticsRow): void {
    const sums = this.#sums;
    sums.promptTokens += row.promptTokens;
    sums.completionTokens += row.completionTokens;
    sums.cacheTokens += row.cacheTokens;
    sums.cacheCreationTokens += row.cacheCreationTokens;
    sums.useTime += Math.floor(row.useTimeMs / 1000);
    sums.callCount += row.callCount;
    this.#amountNanoUsd += row.amountNanoUsd;
  }

  totals(): BillingTotals {
    const sums = this.#sums;
    return {
      totalPromptTokens: sums.promptTokens,
      totalCompletionTokens: sums.completionTokens,
      totalCacheTokens: sums.cacheTokens,
      totalCacheCreationTokens: sums.cacheCreationTokens,
      totalUseTime: sums.useTime,
      callCount: sums.callCount,
      totalAmount: exactNumber(usdDecimal(this.#amountNanoUsd)),
    };
  }
}

/** Creates records of rows that are sorted by bucket, so that a bucket's time is formatted once. */
export function createRecordEncoder(timeZone: string): (row: StatisticsRow) => BillingRecord {
  let timeGroup: number | undefined;
  let time = '';
  return (row) => {
    if (row.bucketStartSeconds !== timeGroup) {
      timeGroup = row.bucketStartSeconds;
      time = formatBucketTime(timeGroup, timeZone);
    }
    return {
      time,
      timeGroup,
      userName: row.userName,
      tokenName: row.tokenName,
      modelName: row.modelName,
      totalPromptTokens: row.promptTokens,
      totalCompletionTokens: row.completionTokens,
      totalCacheTokens: row.cacheTokens,
      totalCacheCreationTokens: row.cacheCreationTokens,
      totalUseTime: Math.floor(row.useTimeMs / 1000),
      callCount: row.callCount,
      totalAmount: exactNumber(usdDecimal(row.amountNanoUsd)),
    };
  };
}
