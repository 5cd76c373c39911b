import type { Usage, UsageReport } from '../../../inference/usage.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';

/** Writes tokens by modality, if the numbers of audio and images are known, including none. */
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
  const present = counts.filter((count) => count !== undefined);
  return present.length === 0 ? undefined : present.reduce((sum, count) => sum + count, 0);
}

/** The counts of a report that are written to the client. */
export type ReportedUsage = Pick<UsageReport, 'usage' | 'toolPromptTokens' | 'splitsInput'>;

/**
 * Writes a `usageMetadata`. The prompt includes cache reads and writes but not tokens that tools added, the candidates
 * exclude thoughts, and the total includes everything. Unknown counts are left out.
 */
export function encodeUsage({ usage, toolPromptTokens = 0, splitsInput }: ReportedUsage): JsonObject {
  const { cacheReadTokens, outputTokens, reasoningTokens } = usage;
  const input = readInput(usage);
  // If less is charged than was reported, the parts do not exceed the whole.
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
