import type { Usage } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Tokens by modality, where it is known how many were sound. */
function splitAudio(total: number, audio: number | undefined): readonly JsonObject[] | undefined {
  if (audio === undefined || audio === 0) return undefined;
  return [
    { modality: 'TEXT', tokenCount: Math.max(0, total - audio) },
    { modality: 'AUDIO', tokenCount: audio },
  ];
}

function readInput(usage: Usage): number | undefined {
  const counts = [usage.inputTokens, usage.cacheReadTokens, usage.cacheWrite5mTokens, usage.cacheWrite1hTokens];
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

/**
 * Writes a `usageMetadata`: the prompt holds what was read from and written to caches, the candidates hold no thoughts, and the total
 * holds all. Counts that are not known are left out.
 */
export function encodeUsage(usage: Usage): JsonObject {
  const { cacheReadTokens, outputTokens, reasoningTokens } = usage;
  const input = readInput(usage);
  const candidates = outputTokens === undefined ? undefined : Math.max(0, outputTokens - (reasoningTokens ?? 0));
  const inputAudio = (usage.inputAudioTokens ?? 0) + (usage.cacheReadAudioTokens ?? 0);
  const promptDetails = input === undefined ? undefined : splitAudio(input, inputAudio);
  const candidatesDetails = candidates === undefined ? undefined : splitAudio(candidates, usage.outputAudioTokens);
  const cacheDetails = cacheReadTokens === undefined ? undefined : splitAudio(cacheReadTokens, usage.cacheReadAudioTokens);
  return {
    ...(input === undefined ? {} : { promptTokenCount: input }),
    ...(cacheReadTokens === undefined ? {} : { cachedContentTokenCount: cacheReadTokens }),
    ...(candidates === undefined ? {} : { candidatesTokenCount: candidates }),
    ...(reasoningTokens === undefined ? {} : { thoughtsTokenCount: reasoningTokens }),
    ...(input === undefined || candidates === undefined ? {} : { totalTokenCount: input + candidates + (reasoningTokens ?? 0) }),
    ...(promptDetails === undefined ? {} : { promptTokensDetails: promptDetails }),
    ...(cacheDetails === undefined ? {} : { cacheTokensDetails: cacheDetails }),
    ...(candidatesDetails === undefined ? {} : { candidatesTokensDetails: candidatesDetails }),
  };
}
