import { parseNetwork } from '../platform/http/address-list.ts';

/** Limits of use per time and at once. A missing limit means unlimited. */
export type RateLimits = {
  /** Calls in any 60 seconds. */
  readonly requestsPerMinute?: number;
  /** Input and output tokens, cached ones included, in any 60 seconds. */
  readonly tokensPerMinute?: number;
  /** Calls under way at a time. */
  readonly concurrency?: number;
};

/**
 * Limits of a key, a user, a team or the organization: amounts, models, upstreams, networks and expiry. A missing limit
 * means unlimited.
 */
export type AccessLimits = RateLimits & {
  /**
   * Names of models that may be called. A name that ends in `*` allows every name that begins with its part before the
   * `*`.
   */
  readonly models?: readonly string[];
  /** Names of upstreams that calls may go to, with `*` as for models. */
  readonly upstreams?: readonly string[];
  /** Networks in CIDR notation, or single addresses, from which calls may come. */
  readonly addresses?: readonly string[];
  /**
   * USD that may be spent in a calendar day, in a calendar month (both UTC), and in total: decimal strings with at most
   * nine places.
   */
  readonly spendPerDay?: string;
  readonly spendPerMonth?: string;
  readonly spendTotal?: string;
  /**
   * Not of a key: calls are paid from the balance, and a call that the balance does not cover is refused. Of several
   * prepaid levels the nearest to the key pays.
   */
  readonly prepaid?: true;
  /** Days for which files of finished videos are kept. */
  readonly mediaRetentionDays?: number;
  /** Bytes that the video files of this owner may have in total. With 0, no video can be created. */
  readonly mediaBytesMax?: number;
  /** The keys are refused from this moment on, in Unix milliseconds. */
  readonly expiresAtMs?: number;
};

/** New values of some limits. `null` removes a limit; a missing member leaves it unchanged. */
export type AccessLimitsChange = { readonly [Name in keyof AccessLimits]?: Exclude<AccessLimits[Name], undefined> | null };

/** The most entries of a list, and the most characters of the name of a model and of an upstream. */
export const listEntriesMax = 100;
export const modelCharactersMax = 256;
export const upstreamCharactersMax = 100;

/** The highest allowed value of each rate limit. */
export const rateLimitsMax: Required<RateLimits> = { requestsPerMinute: 1_000_000, tokensPerMinute: 1_000_000_000, concurrency: 100_000 };

/** The highest allowed values of the limits of stored files. */
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

/** At most a billion USD, with nano-USD precision. */
const isUsdAmount = (value: unknown): boolean => typeof value === 'string' && /^(?:0|[1-9][0-9]{0,8})(?:\.[0-9]{1,9})?$/.test(value);

/**
 * The allowed values of each limit. Not a compiled schema, because the threads of the store load this file and would
 * load the schema library too.
 */
const limitChecks: { readonly [Name in keyof Required<AccessLimits>]: (value: unknown) => boolean } = {
  requestsPerMinute: isWhole(1, rateLimitsMax.requestsPerMinute),
  tokensPerMinute: isWhole(1, rateLimitsMax.tokensPerMinute),
  concurrency: isWhole(1, rateLimitsMax.concurrency),
  models: isList((model) => model.length > 0 && model.length <= modelCharactersMax),
  upstreams: isList((upstream) => upstream.length > 0 && upstream.length <= upstreamCharactersMax),
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

/** Whether a value that was read from a store is a valid set of limits. */
export function isAccessLimits(value: unknown): value is AccessLimits {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false;
  return Object.entries(value).every(([name, limit]) => checkOf.get(name)?.(limit) === true);
}

/** Whether every value of a change is one that its limit can have. */
export function isLimitsChange(change: AccessLimitsChange): boolean {
  return isAccessLimits(Object.fromEntries(Object.entries(change).filter(([, value]) => value !== null)));
}

/**
 * The limits after a change; undefined when none is left.
 * @throws Error if the change has a value that the limit cannot have
 */
export function changeLimits(limits: AccessLimits | undefined, change: AccessLimitsChange): AccessLimits | undefined {
  const merged: unknown = Object.fromEntries(Object.entries({ ...limits, ...change }).filter(([, value]) => value !== null));
  if (!isAccessLimits(merged)) throw new Error('the change of limits has a value that the limit cannot have');
  return Object.keys(merged).length === 0 ? undefined : merged;
}
