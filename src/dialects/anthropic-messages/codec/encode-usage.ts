import { readUsedTier } from '../../../inference/service-tier.ts';
import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Uses of tools in the reply. The vendor may have counted more. */
export type ToolUses = { readonly webSearches: number; readonly pagesRead: number };

const noUses: ToolUses = { webSearches: 0, pagesRead: 0 };

const wordByTier = { standard: 'standard', flex: 'standard', priority: 'priority', scale: 'priority', batch: 'batch' } as const;

/** Writes the service tier under the vendor's name. Nothing if the upstream does not report it. */
export function encodeServiceTier(report: UsageReport | undefined): JsonObject {
  const tier = readUsedTier(report?.serviceTier);
  return tier === undefined ? {} : { service_tier: wordByTier[tier] };
}

/**
 * Writes `usage`. `input_tokens` excludes cache reads and writes, `output_tokens` includes thinking. The four counts
 * that clients add up are always present; unknown ones of the others are left out.
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
