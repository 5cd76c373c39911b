import { createCountReader, type CountReader } from '../../inference/count-reader.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';

/**
 * Reads a chat completions `usage` object into disjoint counts: `prompt_tokens` includes cache reads and writes, so both are taken off.
 * `completion_tokens` includes reasoning, except at a vendor that says otherwise, which corrects the report from `raw`.
 * Undefined when the reply has none; anything but an object is a report without counts that is not trustworthy.
 */
export function decodeUsage(raw: unknown, serviceTier?: unknown): UsageReport | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isJsonObject(raw)) return { usage: {}, raw, trustworthy: false };
  const counts = createCountReader();
  const input = decodeInput(raw, counts);
  const outputTokens = counts.read(raw.completion_tokens);
  const details = membersOf(raw.completion_tokens_details);
  const reasoningTokens = counts.read(details.reasoning_tokens);
  const outputAudioTokens = counts.read(details.audio_tokens);
  const usage: Usage = {
    ...input.usage,
    ...(outputTokens !== undefined && { outputTokens }),
    ...(reasoningTokens !== undefined && { reasoningTokens }),
    ...(outputAudioTokens !== undefined && { outputAudioTokens }),
  };
  return {
    usage,
    raw,
    trustworthy: counts.trustworthy() && input.isConsistent,
    ...(typeof serviceTier === 'string' && { serviceTier }),
  };
}

function decodeInput(raw: JsonObject, counts: CountReader): { readonly usage: Usage; readonly isConsistent: boolean } {
  const details = membersOf(raw.prompt_tokens_details);
  const prompt = counts.read(raw.prompt_tokens);
  const cacheReadTokens = readCacheReads(raw, details, counts);
  const cacheWrite5mTokens = counts.read(details.cache_write_tokens);
  const rest = prompt === undefined ? undefined : prompt - (cacheReadTokens ?? 0) - (cacheWrite5mTokens ?? 0);
  const inputTokens = rest === undefined ? undefined : Math.max(0, rest);
  return {
    usage: {
      ...(inputTokens !== undefined && { inputTokens }),
      ...(cacheReadTokens !== undefined && { cacheReadTokens }),
      ...(cacheWrite5mTokens !== undefined && { cacheWrite5mTokens }),
      ...decodeInputAudio(details, inputTokens, counts),
    },
    isConsistent: rest === undefined || rest >= 0,
  };
}

/** Servers after DeepSeek's manner count cache hits beside `prompt_tokens_details`; where both are given they mean the same tokens. */
function readCacheReads(raw: JsonObject, details: JsonObject, counts: CountReader): number | undefined {
  const cached = counts.read(details.cached_tokens);
  const hits = counts.read(raw.prompt_cache_hit_tokens);
  return cached === undefined || hits === undefined ? (cached ?? hits) : Math.max(cached, hits);
}

/**
 * `audio_tokens` counts cached audio too. Where the server says how much of it was cached, that part goes to the cache reads; where it
 * does not, what exceeds the uncached input must have been cached and is priced as the cached text it is counted among.
 */
function decodeInputAudio(details: JsonObject, inputTokens: number | undefined, counts: CountReader): Usage {
  const audio = counts.read(details.audio_tokens);
  const cachedAudio = counts.read(membersOf(details.cached_tokens_details).audio_tokens);
  if (audio === undefined) return {};
  const uncached = Math.min(Math.max(0, audio - (cachedAudio ?? 0)), inputTokens ?? audio);
  return { inputAudioTokens: uncached, ...(cachedAudio !== undefined && { cacheReadAudioTokens: cachedAudio }) };
}
