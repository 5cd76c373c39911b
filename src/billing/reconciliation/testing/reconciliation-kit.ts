import type { CallEntry } from '../../ledger/call-entry.ts';

// For tests: exports in the vendors' forms, written by hand, and rows of the ledger.

export const atMs = Date.UTC(2026, 10, 20, 12);

/** A page of OpenAI's usage API with one bucket of a day. */
export function openAiPage(day: string, results: readonly Record<string, unknown>[], more: Record<string, unknown> = {}): unknown {
  const start = Date.parse(`${day}T00:00:00Z`) / 1000;
  const bucket = { object: 'bucket', start_time: start, end_time: start + 86_400, results };
  return { object: 'page', data: [bucket], has_more: false, next_page: null, ...more };
}

/**
 * A result of OpenAI's usage API: 100 input tokens, of which 40 were cached and 10 written to a cache, and 7 output
 * tokens.
 */
export function openAiResult(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    object: 'organization.usage.completions.result',
    input_tokens: 100,
    input_cached_tokens: 40,
    input_cache_write_tokens: 10,
    input_uncached_tokens: 50,
    output_tokens: 7,
    input_text_tokens: 50,
    output_text_tokens: 7,
    input_audio_tokens: 0,
    num_model_requests: 1,
    project_id: null,
    model: 'gpt-5-mini-2025-08-07',
    batch: null,
    service_tier: null,
    ...more,
  };
}

/** A row of Google's table of costs; `googleHeader` names its columns. */
export function googleLine(sku: string, amount: string, { unit = 'count', day = '2026-11-20' } = {}): string {
  return `p,"${sku}",A-1,${day},${day},"${amount}",${unit},0.1`;
}

export const googleHeader = 'Project,SKU description,SKU ID,Usage start date,Usage end date,Usage amount,Usage unit,"Cost ($)"';

/** A page of Anthropic's usage report with one bucket of a day. */
export function anthropicPage(day: string, results: readonly Record<string, unknown>[]): unknown {
  const ending = new Date(Date.parse(`${day}T00:00:00Z`) + 86_400_000).toISOString();
  return { data: [{ starting_at: `${day}T00:00:00Z`, ending_at: ending, results }], has_more: false, next_page: null };
}

/** A result of Anthropic's usage report; all counts differ. */
export function anthropicResult(more: Record<string, unknown> = {}): Record<string, unknown> {
  return {
    uncached_input_tokens: 50,
    cache_creation: { ephemeral_1h_input_tokens: 3, ephemeral_5m_input_tokens: 10 },
    cache_read_input_tokens: 40,
    output_tokens: 7,
    server_tool_use: { web_search_requests: 2 },
    api_key_id: null,
    workspace_id: null,
    model: 'claude-sonnet-4-5-20250929',
    service_tier: null,
    context_window: null,
    ...more,
  };
}

/** A row of an OpenAI call with the usage of `openAiResult`. */
export function rowOf(callId: string, more: Partial<CallEntry> = {}): CallEntry {
  return {
    callId,
    acceptedAtMs: atMs,
    userName: 'alice',
    keyId: 'key_1',
    keyName: 'ci',
    dialect: 'openai-chat',
    requestedModel: 'fast',
    upstream: 'openai',
    vendor: 'openai',
    upstreamModel: 'gpt-5-mini',
    servedModel: 'gpt-5-mini-2025-08-07',
    stream: false,
    inputCharacters: 1,
    priceVersion: 'v',
    end: 'finished',
    upstreamStatus: 200,
    usage: { inputTokens: 50, cacheReadTokens: 40, cacheWrite5mTokens: 10, outputTokens: 7 },
    estimated: false,
    durationMs: 1000,
    charge: { amountNanoUsd: 0n, lines: [] },
    ...more,
  };
}
