import type { Usage } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/**
 * Writes `usage`. `input_tokens` excludes what was read from and written to a cache, `output_tokens` includes thinking. The four counts
 * that clients add up are always there; the rest is left out where it is unknown.
 */
export function encodeUsage(usage: Usage): JsonObject {
  const { inputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, outputTokens, reasoningTokens, webSearches } = usage;
  return {
    input_tokens: inputTokens ?? 0,
    cache_creation_input_tokens: (cacheWrite5mTokens ?? 0) + (cacheWrite1hTokens ?? 0),
    cache_read_input_tokens: cacheReadTokens ?? 0,
    ...(cacheWrite1hTokens !== undefined && {
      cache_creation: { ephemeral_5m_input_tokens: cacheWrite5mTokens ?? 0, ephemeral_1h_input_tokens: cacheWrite1hTokens },
    }),
    output_tokens: outputTokens ?? 0,
    ...(reasoningTokens !== undefined && { output_tokens_details: { thinking_tokens: reasoningTokens } }),
    ...(webSearches !== undefined && { server_tool_use: { web_search_requests: webSearches, web_fetch_requests: 0 } }),
  };
}
