import type { Usage } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/**
 * Writes usage as the vendor counts it: the input includes cached tokens, the output includes reasoning. Counts are
 * never absent.
 */
export function encodeUsage(usage: Usage): JsonObject {
  const { inputTokens = 0, cacheReadTokens = 0, cacheWrite5mTokens, cacheWrite1hTokens, outputTokens = 0, reasoningTokens = 0 } = usage;
  const written = (cacheWrite5mTokens ?? 0) + (cacheWrite1hTokens ?? 0);
  const input = inputTokens + cacheReadTokens + written;
  const tellsWrites = cacheWrite5mTokens !== undefined || cacheWrite1hTokens !== undefined;
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: cacheReadTokens, ...(tellsWrites ? { cache_write_tokens: written } : {}) },
    output_tokens: outputTokens,
    output_tokens_details: { reasoning_tokens: reasoningTokens },
    total_tokens: input + outputTokens,
  };
}
