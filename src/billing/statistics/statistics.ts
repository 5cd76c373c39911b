import { type BillingRecords, encodeBillingRecords } from './billing-record.ts';
import type { BucketBounds, StatisticsQuery, StatisticsRow, StatisticsStore } from './statistics-store.ts';
import { TooManyBucketsError, bucketsBetween } from './buckets-between.ts';
import { type Granularity, type GranularityName, granularityNames } from './granularity.ts';
import { zonedTime } from './format-bucket-time.ts';

/**
 * The limits of one query. Ranges are days of the local calendar, so a week with a clock change still counts as seven.
 */
export type StatisticsLimits = {
  readonly rangeDaysMax: Readonly<Record<GranularityName, number>>;
  readonly bucketsMax: number;
  readonly rowsMax: number;
};

/** Three years have at most 1096 days. The number of buckets is a second limit, for operators who raise the ranges. */
export const statisticsLimitsDefault: StatisticsLimits = {
  rangeDaysMax: { minute: 7, hour: 93, day: 1096, week: 1096, month: 1096 },
  bucketsMax: 50_000,
  rowsMax: 1_000_000,
};

export type StatisticsRequest = {
  readonly granularity: Granularity;
  /** Unix seconds, half-open: calls accepted in `[startSeconds, endSeconds)` count. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** Matched exactly, with case. */
  readonly tokenName?: string;
  readonly modelName?: string;
};

/** The visible calls: those of one user, or all without a name. */
export type StatisticsScope = { readonly userName?: string };

/** The request exceeds a limit. The message is written for the caller and says what to change. */
export class StatisticsRefusedError extends Error {
  constructor(message: string) {
    super(message);
    this.name = 'StatisticsRefusedError';
  }
}

/** The store did not answer; the cause has the reason. The same request may succeed later. */
export class StatisticsUnavailableError extends Error {
  constructor(cause: unknown) {
    super('The statistics store did not answer.', { cause });
    this.name = 'StatisticsUnavailableError';
  }
}

export type Statistics = {
  /** The time zone of the buckets. */
  readonly timeZone: string;
  /**
   * The records of an interval, ascending by bucket, user, token and model; buckets without calls have none.
   * Rejects with StatisticsRefusedError or StatisticsUnavailableError.
   */
  readonly query: (request: StatisticsRequest, scope: StatisticsScope) => Promise<BillingRecords>;
};

export type StatisticsOptions = {
  readonly store: StatisticsStore;
  /** IANA name. Throws RangeError if it is unknown. */
  readonly timeZone: string;
  readonly limits?: StatisticsLimits;
};

export function createStatistics({ store, timeZone, limits = statisticsLimitsDefault }: StatisticsOptions): Statistics {
  const toQuery = createQueries({ timeZone, limits });

  async function query(request: StatisticsRequest, scope: StatisticsScope): Promise<BillingRecords> {
    const rows = await readRows(store, toQuery(request, scope));
    if (rows.length > limits.rowsMax) throw tooManyRecords(limits.rowsMax);
    assertScope(rows, scope);
    return encodeBillingRecords(rows, timeZone);
  }

  return { timeZone, query };
}

/**
 * Converts requests to queries of a store. Throws RangeError for an unknown time zone; the returned function throws
 * StatisticsRefusedError for a request that exceeds a limit.
 */
export function createQueries({
  timeZone,
  limits = statisticsLimitsDefault,
}: Omit<StatisticsOptions, 'store'>): (request: StatisticsRequest, scope: StatisticsScope) => StatisticsQuery {
  assertTimeZone(timeZone);
  return (request, scope) => {
    assertRange(request, timeZone, limits);
    return encodeQuery(request, scope, chooseBuckets(request, timeZone, limits), limits);
  };
}

export function tooManyRecords(rowsMax: number): StatisticsRefusedError {
  return new StatisticsRefusedError(
    `the answer has more than ${rowsMax} records; request a shorter range or a larger type, or filter by tokenName or modelName`,
  );
}

function assertTimeZone(timeZone: string): void {
  try {
    zonedTime(0, timeZone);
  } catch (cause) {
    throw new RangeError(`"${timeZone}" is not a time zone; use an IANA name such as "UTC" or "Asia/Shanghai"`, { cause });
  }
}

function assertRange({ granularity, startSeconds, endSeconds }: StatisticsRequest, timeZone: string, limits: StatisticsLimits): void {
  if (startSeconds >= endSeconds) throw new StatisticsRefusedError('startTime must be before endTime');
  const name = granularityNames[granularity];
  const days = limits.rangeDaysMax[name];
  if (endSeconds * 1000 > zonedTime(startSeconds, timeZone).add({ days }).epochMilliseconds) {
    throw new StatisticsRefusedError(
      `startTime and endTime are more than ${days} days apart, the limit for type ${granularity} (${name}); request a shorter range or a larger type`,
    );
  }
}

function chooseBuckets(request: StatisticsRequest, timeZone: string, limits: StatisticsLimits): BucketBounds[] {
  const { granularity, startSeconds, endSeconds } = request;
  try {
    return bucketsBetween({ granularity, startSeconds, endSeconds, timeZone, bucketsMax: limits.bucketsMax });
  } catch (error) {
    if (!(error instanceof TooManyBucketsError)) throw error;
    throw new StatisticsRefusedError(
      `the range has more than ${limits.bucketsMax} buckets of type ${granularity} (${granularityNames[granularity]}); request a shorter range or a larger type`,
    );
  }
}

function encodeQuery(
  request: StatisticsRequest,
  scope: StatisticsScope,
  buckets: readonly BucketBounds[],
  limits: StatisticsLimits,
): StatisticsQuery {
  return {
    buckets,
    startSeconds: request.startSeconds,
    endSeconds: request.endSeconds,
    ...(request.tokenName !== undefined && { tokenName: request.tokenName }),
    ...(request.modelName !== undefined && { modelName: request.modelName }),
    ...(scope.userName !== undefined && { userName: scope.userName }),
    rowsMax: limits.rowsMax,
  };
}

async function readRows(store: StatisticsStore, query: StatisticsQuery): Promise<readonly StatisticsRow[]> {
  try {
    return await store.queryStatistics(query);
  } catch (cause) {
    throw new StatisticsUnavailableError(cause);
  }
}

/** A second check of the separation of tenants, if a store ever ignores its filter. */
export function assertScope(rows: readonly StatisticsRow[], scope: StatisticsScope): void {
  if (scope.userName === undefined) return;
  for (const row of rows) {
    if (row.userName !== scope.userName) throw new Error('The statistics store returned rows of a user outside the scope of the query.');
  }
}
