import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Tokens by modality, where it is known how many were sound or pictures, or that none were. */
function splitTokens(total: number, audio = 0, images = 0, isSplit = false): readonly JsonObject[] | undefined {
  if (audio === 0 && images === 0 && !isSplit) return undefined;
  return [
    { modality: 'TEXT', tokenCount: Math.max(0, total - audio - images) },
    ...(audio === 0 ? [] : [{ modality: 'AUDIO', tokenCount: audio }]),
    ...(images === 0 ? [] : [{ modality: 'IMAGE', tokenCount: images }]),
  ];
}

function readInput(usage: Usage): number | undefined {
  const counts = [usage.inputTokens, usage.cacheReadTokens, usage.cacheWrite5mTokens, usage.cacheWrite1hTokens];
  const known = counts.filter((count) => count !== undefined);
  return known.length === 0 ? undefined : known.reduce((sum, count) => sum + count, 0);
}

/** What of a report is told. */
export type ToldUsage = Pick<UsageReport, 'usage' | 'toolPromptTokens' | 'splitsInput'>;

/**
 * Writes a `usageMetadata`: the prompt holds what was read from and written to caches and not what tools put into it, the candidates hold
 * no thoughts, and the total holds all. Counts that are not known are left out.
 */
export function encodeUsage({ usage, toolPromptTokens = 0, splitsInput }: ToldUsage): JsonObject {
  const { cacheReadTokens, outputTokens, reasoningTokens } = usage;
  const input = readInput(usage);
  // Where less is charged than was reported, the parts are no more than the whole.
  const toolPrompt = Math.min(toolPromptTokens, usage.inputTokens ?? 0);
  const prompt = input === undefined ? undefined : input - toolPrompt;
  const candidates = outputTokens === undefined ? undefined : Math.max(0, outputTokens - (reasoningTokens ?? 0));
  const inputAudio = (usage.inputAudioTokens ?? 0) + (usage.cacheReadAudioTokens ?? 0);
  const inputImages = (usage.inputImageTokens ?? 0) + (usage.cacheReadImageTokens ?? 0);
  const promptDetails = prompt === undefined ? undefined : splitTokens(prompt, inputAudio, inputImages, splitsInput);
  const candidatesDetails =
    candidates === undefined ? undefined : splitTokens(candidates, usage.outputAudioTokens, usage.outputImageTokens);
  const cacheDetails =
    cacheReadTokens === undefined ? undefined : splitTokens(cacheReadTokens, usage.cacheReadAudioTokens, usage.cacheReadImageTokens);
  return {
    ...(prompt === undefined ? {} : { promptTokenCount: prompt }),
    ...(toolPrompt === 0 ? {} : { toolUsePromptTokenCount: toolPrompt }),
    ...(cacheReadTokens === undefined ? {} : { cachedContentTokenCount: cacheReadTokens }),
    ...(candidates === undefined ? {} : { candidatesTokenCount: candidates }),
    ...(reasoningTokens === undefined ? {} : { thoughtsTokenCount: reasoningTokens }),
    ...(input === undefined || candidates === undefined ? {} : { totalTokenCount: input + candidates + (reasoningTokens ?? 0) }),
    ...(promptDetails === undefined ? {} : { promptTokensDetails: promptDetails }),
    ...(cacheDetails === undefined ? {} : { cacheTokensDetails: cacheDetails }),
    ...(candidatesDetails === undefined ? {} : { candidatesTokensDetails: candidatesDetails }),
  };
}
