import type { LimitState, RateLimitState } from '../../inference/rate-limit-state.ts';

/**
 * Writes the vendor's rate-limit headers. Resets are times of RFC 3339 in whole seconds, rounded up so that none is too
 * early.
 */
export function rateLimitHeaders({ requests, tokens }: RateLimitState, nowMs: number): Record<string, string> {
  const headers: Record<string, string> = {};
  if (requests !== undefined) addHeaders(headers, 'requests', requests, nowMs);
  if (tokens !== undefined) addHeaders(headers, 'tokens', tokens, nowMs);
  return headers;
}

function addHeaders(headers: Record<string, string>, of: string, { limit, remaining, resetMs }: LimitState, nowMs: number): void {
  const resetAt = new Date(Math.ceil((nowMs + resetMs) / 1000) * 1000).toISOString();
  headers[`anthropic-ratelimit-${of}-limit`] = String(limit);
  headers[`anthropic-ratelimit-${of}-remaining`] = String(remaining);
  headers[`anthropic-ratelimit-${of}-reset`] = `${resetAt.slice(0, 19)}Z`;
}
