import type { Usage } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { member } from './member.ts';

const sumOf = (counts: readonly (number | undefined)[]): number | undefined => {
  const present = counts.filter((count) => count !== undefined);
  return present.length === 0 ? undefined : present.reduce((sum, count) => sum + count, 0);
};

const detailsOf = (name: string, details: JsonObject): JsonObject => (Object.keys(details).length === 0 ? {} : { [name]: details });

/**
 * Writes usage as the vendor counts it: the prompt includes cache reads and writes, the completion includes reasoning.
 * The three totals are required, so an unknown one is 0. Unknown details are omitted.
 */
export function encodeUsage(usage: Usage): JsonObject {
  const { inputTokens, cacheReadTokens, cacheWrite5mTokens, cacheWrite1hTokens, outputTokens = 0 } = usage;
  const written = sumOf([cacheWrite5mTokens, cacheWrite1hTokens]);
  const promptTokens = sumOf([inputTokens, cacheReadTokens, written]) ?? 0;
  return {
    prompt_tokens: promptTokens,
    completion_tokens: outputTokens,
    total_tokens: promptTokens + outputTokens,
    ...detailsOf('prompt_tokens_details', {
      ...member('cached_tokens', cacheReadTokens),
      ...member('audio_tokens', sumOf([usage.inputAudioTokens, usage.cacheReadAudioTokens])),
      ...member('cache_write_tokens', written),
    }),
    ...detailsOf('completion_tokens_details', {
      ...member('reasoning_tokens', usage.reasoningTokens),
      ...member('audio_tokens', usage.outputAudioTokens),
    }),
  };
}
