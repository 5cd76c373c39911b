import type { DurationHistogram } from '../calls/duration-histogram.ts';
import type { CallFilter, FollowProgress, UserScope } from '../calls/call-facts-store.ts';
import type { BucketBounds } from '../statistics/statistics-store.ts';

/** The values of one name of tags. Calls without the tag are a group of their own, whose name is empty. */
export type TagDimension = `tag:${string}`;

/** The names that usage can be grouped by. A key is its user and its name. Calls without a team have an empty name. */
export type UsageDimension = 'user' | 'key' | 'model' | 'team' | 'upstream' | 'upstreamModel' | 'interface' | 'end' | TagDimension;

/** The name of the tag, for a dimension that is one. */
export function tagOf(dimension: UsageDimension): string | undefined {
  return dimension.startsWith('tag:') ? dimension.slice('tag:'.length) : undefined;
}

/**
 * Where sums come from. `usage`: the roll-ups of the statistics, by user, key and model. `service`: those by upstream,
 * upstream model, interface and end. `names`: hours and days of calls that were added up by user, key, model, team and
 * tag, without durations. `facts`: single calls, by all names.
 */
export type UsageFamily = 'usage' | 'service' | 'names' | 'facts';

/** The sums that groups can be ranked by. */
export type UsageRank = 'amount' | 'calls' | 'tokensIn' | 'tokensOut' | 'useTime' | 'failed';

/**
 * The sums of one bucket. The first seven are those of the statistics. The others are known from service,
 * names and facts; percentiles are not in names.
 */
export type UsageSums = {
  readonly amountNanoUsd: bigint;
  readonly calls: number;
  readonly tokensIn: number;
  readonly tokensOut: number;
  readonly cacheRead: number;
  readonly cacheWrite: number;
  readonly useTimeMs: number;
  /** All calls that ended, with those that failed and so are not in `calls`. */
  readonly ended?: number;
  readonly failed?: number;
  readonly cut?: number;
  /** Of calls that did not fail. */
  readonly firstByte?: DurationHistogram;
  readonly duration?: DurationHistogram;
};

/** Sums by the position of their bucket; buckets without calls are absent. */
export type SumsByBucket = ReadonlyMap<number, UsageSums>;

/** The names of a group, in the order of the dimensions. A key has two: its user and its name. */
export type GroupNames = readonly string[];

/** Selects calls by their names and their end. */
export type UsageFilter = Pick<
  CallFilter,
  'users' | 'keys' | 'models' | 'teams' | 'tags' | 'upstreams' | 'upstreamModels' | 'interfaces' | 'ends'
>;

export type UsageRead = {
  readonly family: UsageFamily;
  /** Adjacent buckets in ascending order, in whole minutes. Calls accepted in `[startSeconds, endSeconds)` count. */
  readonly buckets: readonly BucketBounds[];
  readonly startSeconds: number;
  readonly endSeconds: number;
  /** At most two. */
  readonly groupBy: readonly UsageDimension[];
  readonly filter: UsageFilter;
  /** Calls that all members of one of these select do not count. A filter without members selects none here. */
  readonly excluded?: readonly UsageFilter[];
  readonly scope: UserScope;
  readonly withDurations: boolean;
  /** The largest groups by a sum, or given ones. */
  readonly groups: { readonly limit: number; readonly rankBy: UsageRank } | { readonly names: readonly GroupNames[] };
  readonly nowMs: number;
};

/** All of it is from one moment: the sums of all groups are those of the totals. */
export type UsageRows = {
  readonly totals: SumsByBucket;
  /** The chosen groups, in the order of their rank or as they were given. */
  readonly series: readonly { readonly names: GroupNames; readonly sums: SumsByBucket }[];
  /** Of all families but usage: rows of the ledger that they do not have yet. */
  readonly progress?: FollowProgress;
  /** Nothing was added up: of names, only the calls accepted at this moment or later are added up yet. */
  readonly readyFromMs?: number;
};

/** The store that questions about usage need. */
export type UsageStore = { readonly readUsage: (read: UsageRead) => Promise<UsageRows> };

/** Packs the sums of days, so that questions about years read few rows. Questions are right without it. */
export type UsageDays = {
  /**
   * Packs one day that has ended an hour ago, the newest first. A booking for it, however late, deletes the pack.
   * Bookings wait for one step: some milliseconds.
   * @returns `done` if there was nothing to do
   */
  readonly packUsageDay: (nowMs: number) => Promise<'more' | 'done'>;
  /**
   * Adds up one hour or day of calls by user, key, model, team and tags, or a part of a busy hour. Calls that are
   * followed later, however late, have their hour added up again. Followers wait for one step, bookings on SQLite too.
   * @returns `done` if there was nothing to do, or if another process is at it
   */
  readonly packCalls: (nowMs: number) => Promise<'more' | 'done'>;
};
