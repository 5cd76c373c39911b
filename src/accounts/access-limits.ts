import { parseNetwork } from '../platform/http/address-list.ts';

/** How much may be used. A limit that is absent is none. */
export type RateLimits = {
  /** Calls in any 60 seconds. */
  readonly requestsPerMinute?: number;
  /** Input and output tokens, cached ones included, in any 60 seconds. */
  readonly tokensPerMinute?: number;
  /** Calls under way at a time. */
  readonly concurrency?: number;
};

/** What a key or a user may use, from where and until when. A limit that is absent is none. */
export type AccessLimits = RateLimits & {
  /** Names that may be called; one that ends in `*` stands for all that begin so. */
  readonly models?: readonly string[];
  /** Networks in CIDR notation, or single addresses, from which calls may come. */
  readonly addresses?: readonly string[];
  /** What may be spent in a day and in a month of the calendar (UTC), and altogether: USD as decimal strings with at most nine places. */
  readonly spendPerDay?: string;
  readonly spendPerMonth?: string;
  readonly spendTotal?: string;
  /** Of a user only: calls are paid from its balance, and none is made that the balance does not cover. */
  readonly prepaid?: true;
  /** Days for which files of finished videos are kept. */
  readonly mediaRetentionDays?: number;
  /** Bytes that files of videos may have together; 0: none are made. */
  readonly mediaBytesMax?: number;
  /** Unix milliseconds from which on nothing opens any more. */
  readonly expiresAtMs?: number;
};

/** New values of some limits. `null` takes one away; what is absent stays as it is. */
export type AccessLimitsChange = { readonly [Name in keyof AccessLimits]?: Exclude<AccessLimits[Name], undefined> | null };

/** How many entries a list may have, and how long a name may be. */
export const listEntriesMax = 100;
export const modelCharactersMax = 256;

/** The most that each amount may be. */
export const rateLimitsMax: Required<RateLimits> = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 100_000 };

/** The most that the limits of kept files may be. */
export const mediaLimitsMax = { retentionDays: 36_500, bytes: 1024 ** 5 };

const isWhole =
  (least: number, most: number) =>
  (value: unknown): boolean =>
    Number.isSafeInteger(value) && Number(value) >= least && Number(value) <= most;

const isList =
  (isEntry: (text: string) => boolean) =>
  (value: unknown): boolean =>
    Array.isArray(value) &&
    value.length > 0 &&
    value.length <= listEntriesMax &&
    value.every((entry: unknown) => typeof entry === 'string' && isEntry(entry));

/** At most a billion USD, to the nano-USD. */
const isUsdAmount = (value: unknown): boolean => typeof value === 'string' && /^(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?$/.test(value);

/** Which value each limit can have. No compiled schema: the threads of the store load this, and would load the whole schema library for it. */
const limitChecks: { readonly [Name in keyof Required<AccessLimits>]: (value: unknown) => boolean } = {
  requestsPerMinute: isWhole(1, rateLimitsMax.requestsPerMinute),
  tokensPerMinute: isWhole(1, rateLimitsMax.tokensPerMinute),
  concurrency: isWhole(1, rateLimitsMax.concurrency),
  models: isList((model) => model.length > 0 && model.length <= modelCharactersMax),
  addresses: isList((address) => address.length <= 64 && parseNetwork(address) !== undefined),
  spendPerDay: isUsdAmount,
  spendPerMonth: isUsdAmount,
  spendTotal: isUsdAmount,
  prepaid: (value) => value === true,
  mediaRetentionDays: isWhole(1, mediaLimitsMax.retentionDays),
  mediaBytesMax: isWhole(0, mediaLimitsMax.bytes),
  expiresAtMs: isWhole(0, Number.MAX_SAFE_INTEGER),
};

const checkOf: ReadonlyMap<string, (value: unknown) => boolean> = new Map(Object.entries(limitChecks));

/** Whether a value, as read from a store, is a set of limits that can be enforced. */
export function isAccessLimits(value: unknown): value is AccessLimits {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, limit]) => checkOf.get(name)?.(limit) === true);
}

/** Limits after a change; undefined when none is left. @throws Error when the change holds a value that no limit can have */
export function changeLimits(limits: AccessLimits | undefined, change: AccessLimitsChange): AccessLimits | undefined {
  const merged: unknown = Object.fromEntries(Object.entries({ ...limits, ...change }).filter(([, value]) => value !== null));
  if (!isAccessLimits(merged)) throw new Error('the change of limits holds a value that no limit can have');
  return Object.keys(merged).length === 0 ? undefined : merged;
}
