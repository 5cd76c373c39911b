import { createCountReader, type CountReader } from '../../inference/count-reader.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../platform/json/json-value.ts';

/**
 * Reads a chat completions `usage` object into disjoint counts. `prompt_tokens` includes cache reads and writes, so
 * both are subtracted. `completion_tokens` includes reasoning, unless the total shows otherwise. Undefined if the reply
 * has none; a value of another type is a report without counts that is not trustworthy.
 */
export function decodeUsage(raw: unknown, serviceTier?: unknown): UsageReport | undefined {
  if (raw === undefined || raw === null) return undefined;
  if (!isJsonObject(raw)) return { usage: {}, raw, trustworthy: false };
  const counts = createCountReader();
  const { usage, isConsistent } = decodeInput(raw, counts);
  const outputTokens = counts.read(raw.completion_tokens);
  const details = membersOf(raw.completion_tokens_details);
  const reasoningTokens = counts.read(details.reasoning_tokens);
  const outputAudioTokens = counts.read(details.audio_tokens);
  const outputImageTokens = counts.read(details.image_tokens);
  const toolCalls = counts.read(raw.num_server_side_tools_used);
  if (outputTokens !== undefined) usage.outputTokens = outputTokens + reasoningOutside(raw, outputTokens, reasoningTokens);
  if (reasoningTokens !== undefined) usage.reasoningTokens = reasoningTokens;
  if (outputAudioTokens !== undefined) usage.outputAudioTokens = outputAudioTokens;
  if (outputImageTokens !== undefined) usage.outputImageTokens = outputImageTokens;
  if (toolCalls !== undefined) usage.toolCalls = toolCalls;
  const trustworthy = counts.trustworthy() && isConsistent;
  return typeof serviceTier === 'string' ? { usage, raw, trustworthy, serviceTier } : { usage, raw, trustworthy };
}

/**
 * The reasoning that `completion_tokens` lacks: xAI counts it in addition, also where a cloud or another gateway serves
 * its models. The total shows which arithmetic a reply used.
 */
function reasoningOutside(raw: JsonObject, outputTokens: number, reasoningTokens = 0): number {
  const { prompt_tokens: prompt, total_tokens: total } = raw;
  return typeof prompt === 'number' && total === prompt + outputTokens + reasoningTokens ? reasoningTokens : 0;
}

/** Counts that are set one by one, because spreading optional members costs several times as much. */
type Counts = { -readonly [Name in keyof Usage]: Usage[Name] };

function decodeInput(raw: JsonObject, counts: CountReader): { readonly usage: Counts; readonly isConsistent: boolean } {
  const details = membersOf(raw.prompt_tokens_details);
  const prompt = counts.read(raw.prompt_tokens);
  const cacheReadTokens = readCacheReads(raw, details, counts);
  const cacheWrite5mTokens = counts.read(details.cache_write_tokens);
  const rest = prompt === undefined ? undefined : prompt - (cacheReadTokens ?? 0) - (cacheWrite5mTokens ?? 0);
  // The cached part cannot exceed the prompt. If it does, the cache counts are unknown.
  if (prompt !== undefined && rest !== undefined && rest < 0) return { usage: { inputTokens: prompt }, isConsistent: false };
  const inputTokens = rest;
  const usage: Counts = {};
  if (inputTokens !== undefined) usage.inputTokens = inputTokens;
  if (cacheReadTokens !== undefined) usage.cacheReadTokens = cacheReadTokens;
  if (cacheWrite5mTokens !== undefined) usage.cacheWrite5mTokens = cacheWrite5mTokens;
  decodeInputAudio(details, usage, counts);
  const inputImageTokens = counts.read(details.image_tokens);
  if (inputImageTokens !== undefined) usage.inputImageTokens = inputImageTokens;
  return { usage, isConsistent: true };
}

/**
 * Servers in DeepSeek's style count cache hits beside `prompt_tokens_details`. If both are present, they are the same
 * tokens.
 */
function readCacheReads(raw: JsonObject, details: JsonObject, counts: CountReader): number | undefined {
  const cached = counts.read(details.cached_tokens);
  const hits = counts.read(raw.prompt_cache_hit_tokens);
  return cached === undefined || hits === undefined ? (cached ?? hits) : Math.max(cached, hits);
}

/**
 * `audio_tokens` includes cached audio. If the server reports the cached part, it is moved to the cache reads.
 * Otherwise audio beyond the uncached input must have been cached, and is priced as the cached text that includes it.
 */
function decodeInputAudio(details: JsonObject, usage: Counts, counts: CountReader): void {
  const audio = counts.read(details.audio_tokens);
  const cachedAudio = counts.read(membersOf(details.cached_tokens_details).audio_tokens);
  if (audio === undefined) return;
  usage.inputAudioTokens = Math.min(Math.max(0, audio - (cachedAudio ?? 0)), usage.inputTokens ?? audio);
  if (cachedAudio !== undefined) usage.cacheReadAudioTokens = cachedAudio;
}
