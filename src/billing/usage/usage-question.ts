import type { UserScope } from '../calls/call-facts-store.ts';
import type { DurationHistogram } from '../calls/duration-histogram.ts';
import type { GranularityName } from '../statistics/granularity.ts';
import type { FollowProgress } from '../calls/call-facts-store.ts';
import type { GroupNames, UsageDimension, UsageFamily, UsageFilter, UsageRank, UsageSums } from './usage-store.ts';

/** Sums that a question asks for beyond those of the statistics. They need sums of service, or single calls. */
type ExtraMetric = 'failed' | 'cut' | 'firstByte' | 'duration';

/** A question about usage. */
export type UsageQuestion = {
  /** Unix seconds, half-open: calls accepted in `[startSeconds, endSeconds)` count. */
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** IANA name. */
  readonly timeZone: string;
  /** `auto` chooses the finest with at most 400 buckets; `none` is one bucket for the whole span. */
  readonly granularity: 'auto' | 'none' | GranularityName;
  readonly extra: readonly ExtraMetric[];
  /** At most two, each once. */
  readonly groupBy: readonly UsageDimension[];
  readonly filter: UsageFilter;
  /** Calls that all members of one of these select do not count. A filter without members selects none here. */
  readonly excluded?: readonly UsageFilter[];
  readonly scope: UserScope;
  /** The number of groups that get a series; all others are `other`. */
  readonly limit: number;
  readonly rankBy: UsageRank;
  /** Also answers for the span of the same length before, or for the same span of the year before. */
  readonly compare?: 'previous' | 'year';
};

/** Sums of each bucket in the order of the buckets, and of the whole span. */
export type UsageLine = { readonly total: UsageSums; readonly buckets: readonly UsageSums[] };

/** Series and `other` add up to the totals, in each bucket. */
export type UsagePart = {
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** When each bucket begins, in Unix seconds: the first may begin before the span. */
  readonly bucketStarts: readonly number[];
  readonly totals: UsageLine;
  readonly series: readonly (UsageLine & { readonly names: GroupNames })[];
  /** Absent without grouping. */
  readonly other?: UsageLine;
};

export type UsageAnswer = UsagePart & {
  readonly timeZone: string;
  readonly granularity: 'none' | GranularityName;
  readonly family: UsageFamily;
  /** The same groups in the span of the comparison. */
  readonly comparison?: UsagePart;
  /** Calls that were booked and are not counted yet; absent if the sums are as fresh as the books. */
  readonly progress?: FollowProgress;
};

/** The question exceeds a limit. The message is written for the caller and says what to change. */
export class UsageRefusedError extends Error {
  readonly code: 'invalid_range' | 'too_many_buckets' | 'grouping_too_wide' | 'invalid_grouping' | 'not_ready';

  constructor(code: UsageRefusedError['code'], message: string) {
    super(message);
    this.name = 'UsageRefusedError';
    this.code = code;
  }
}

/** No calls. */
export const noUsage: UsageSums = { amountNanoUsd: 0n, calls: 0, tokensIn: 0, tokensOut: 0, cacheRead: 0, cacheWrite: 0, useTimeMs: 0 };

/** Adds a share of two sums: 1 for their sum, -1 for their difference. */
export function addUsage(one: UsageSums, other: UsageSums, share: 1 | -1 = 1): UsageSums {
  const sum: { -readonly [Member in keyof UsageSums]: UsageSums[Member] } = {
    amountNanoUsd: share === 1 ? one.amountNanoUsd + other.amountNanoUsd : one.amountNanoUsd - other.amountNanoUsd,
    calls: one.calls + share * other.calls,
    tokensIn: one.tokensIn + share * other.tokensIn,
    tokensOut: one.tokensOut + share * other.tokensOut,
    cacheRead: one.cacheRead + share * other.cacheRead,
    cacheWrite: one.cacheWrite + share * other.cacheWrite,
    useTimeMs: one.useTimeMs + share * other.useTimeMs,
  };
  // A year of groups is added up ten thousand times, and few questions have these.
  for (const member of ['ended', 'failed', 'cut'] as const) {
    const added = addOptional(one[member], other[member], share);
    if (added !== undefined) sum[member] = added;
  }
  for (const member of ['firstByte', 'duration'] as const) {
    const added = addHistograms(one[member], other[member], share);
    if (added !== undefined) sum[member] = added;
  }
  return sum;
}

function addOptional(one: number | undefined, other: number | undefined, share: number): number | undefined {
  return one === undefined && other === undefined ? undefined : (one ?? 0) + share * (other ?? 0);
}

function addHistograms(
  one: DurationHistogram | undefined,
  other: DurationHistogram | undefined,
  share: number,
): DurationHistogram | undefined {
  if (other === undefined) return one;
  if (one === undefined) return other.map((count) => share * count);
  return one.map((count, place) => count + share * (other[place] ?? 0));
}
