/** How much of one limit is left. */
export type LimitState = {
  readonly limit: number;
  /** What may still be used, this call already taken off. */
  readonly remaining: number;
  /** Whole milliseconds until nothing of it is used any more, if nothing more is used. */
  readonly resetMs: number;
};

/** Where a caller stands with the limits of the last minute. What is not limited is absent. */
export type RateLimitState = { readonly requests?: LimitState; readonly tokens?: LimitState };
