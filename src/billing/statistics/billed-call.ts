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
  /** Whether any count is an estimate rather than the upstream's report. */
  readonly estimated: boolean;
  readonly end: CallEnd;
  readonly priceVersion: string;
};

/** Which rows are meant: accepted in `[startMs, endMs)`, and of these names where they are given. */
export type BilledCallFilter = {
  readonly startMs: number;
  readonly endMs: number;
  readonly userName?: string;
  readonly tokenName?: string;
  readonly modelName?: string;
};

export type BilledCallPage = BilledCallFilter & {
  /** The last row of the page before. */
  readonly after?: Pick<BilledCall, 'acceptedAtMs' | 'callId'>;
  readonly limit: number;
};

/** What the detail of an answer needs of a store. */
export type BilledCallStore = {
  /** The next rows in the order of their acceptance and, of the same millisecond, of their ids; fewer than `limit` when there are no more. */
  readonly listBilledCalls: (page: BilledCallPage) => Promise<readonly BilledCall[]>;
  /** Versions of price books that priced calls which were accepted on the days (of UTC) of a span, ascending; of one user's calls where a user is given. */
  readonly listPriceVersions: (span: {
    readonly startMs: number;
    readonly endMs: number;
    readonly userName?: string;
  }) => Promise<readonly string[]>;
};
