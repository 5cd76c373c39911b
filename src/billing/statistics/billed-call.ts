import type { CallEnd, StatisticsCounts } from '../ledger/call-entry.ts';

/** One row of the ledger that counts in the statistics: a call, or a part of one that adds to its sums. */
export type BilledCall = StatisticsCounts & {
  readonly callId: string;
  readonly acceptedAtMs: number;
  readonly userName: string;
  readonly tokenName: string;
  readonly modelName: string;
  readonly useTimeMs: number;
  /** 1, or 0 for a part of another call. */
  readonly callCount: 0 | 1;
  readonly amountNanoUsd: bigint;
  /** Whether any count is an estimate and not the upstream's report. */
  readonly estimated: boolean;
  readonly end: CallEnd;
  readonly priceVersion: string;
};

/** Selects rows that were accepted in `[startMs, endMs)`, and have these names if they are set. */
export type BilledCallFilter = {
  readonly startMs: number;
  readonly endMs: number;
  readonly userName?: string;
  readonly tokenName?: string;
  readonly modelName?: string;
};

export type BilledCallPage = BilledCallFilter & {
  /** The last row of the previous page. */
  readonly after?: Pick<BilledCall, 'acceptedAtMs' | 'callId'>;
  readonly limit: number;
};

/** The store that the detail of an answer needs. */
export type BilledCallStore = {
  /** The next rows by time of acceptance and then by id; fewer than `limit` at the end. */
  readonly listBilledCalls: (page: BilledCallPage) => Promise<readonly BilledCall[]>;
  /**
   * Versions of the price books that priced calls accepted on the days (UTC) of a span, ascending; only calls of one
   * user if it is set.
   */
  readonly listPriceVersions: (span: {
    readonly startMs: number;
    readonly endMs: number;
    readonly userName?: string;
  }) => Promise<readonly string[]>;
};
