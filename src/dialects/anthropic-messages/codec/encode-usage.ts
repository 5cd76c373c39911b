import { readUsedTier } from '../../../inference/service-tier.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Uses of tools that stand in the reply. What the vendor counted may be more. */
export type ToolUses = { readonly webSearches: number; readonly pagesRead: number };

const noUses: ToolUses = { webSearches: 0, pagesRead: 0 };

const wordByTier = { standard: 'standard', flex: 'standard', priority: 'priority', scale: 'priority', batch: 'batch' } as const;

/** The tier that was used, in the vendor's words; nothing where the upstream does not say. */
export function encodeServiceTier(report: UsageReport | undefined): JsonObject {
  const tier = readUsedTier(report?.serviceTier);
  return tier === undefined ? {} : { service_tier: wordByTier[tier] };
}

/**
 * Writes `usage`. `input_tokens` excludes what was read from and written to a cache, `output_tokens` includes thinking. The four counts
 * that clients add up are always there; the rest is left out where it is unknown.
 */
export function encodeUsage(usage: Usage, { webSearches: searches, pagesRead }: ToolUses = noUses): JsonObject {
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
    ...((webSearches !== undefined || searches > 0 || pagesRead > 0) && {
      server_tool_use: { web_search_requests: Math.max(webSearches ?? 0, searches), web_fetch_requests: pagesRead },
    }),
  };
}
