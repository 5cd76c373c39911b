import type { LimitState, RateLimitState } from '../inference/rate-limit-state.ts';

export const openaiLimitHeaders: readonly string[] = ['x-ratelimit-'];

/** The vendor's rate-limit headers. Times until a reset are durations such as `6ms`, `1.5s` and `1m0s`. */
export function openaiRateLimitHeaders({ requests, tokens }: RateLimitState): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests !== undefined) addHeaders(headers, 'requests', requests);
  if (tokens !== undefined) addHeaders(headers, 'tokens', tokens);
  return headers;
}

function addHeaders(headers: Record<string, string>, of: 'requests' | 'tokens', { limit, remaining, resetMs }: LimitState): void {
  headers[`x-ratelimit-limit-${of}`] = String(limit);
  headers[`x-ratelimit-remaining-${of}`] = String(remaining);
  headers[`x-ratelimit-reset-${of}`] = formatDuration(resetMs);
}

/**
 * Formats whole milliseconds, a few minutes at most, as the vendor writes durations: from the largest unit down, with
 * zeros after it.
 */
function formatDuration(ms: number): string {
  if (ms < 1000) return `${ms}ms`;
  const minutes = Math.floor(ms / 60_000);
  const seconds = `${(ms % 60_000) / 1000}s`;
  return minutes === 0 ? seconds : `${minutes}m${seconds}`;
}
