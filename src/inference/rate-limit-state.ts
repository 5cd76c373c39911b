/** How much of one limit is left. */
export type LimitState = {
  readonly limit: number;
  /** The rest of the limit after this call. */
  readonly remaining: number;
  /** Whole milliseconds until the limit is completely free, if no further call uses it. */
  readonly resetMs: number;
};

/** The state of a caller's limits in the last minute. Absent: there is no such limit. */
export type RateLimitState = { readonly requests?: LimitState; readonly tokens?: LimitState };
