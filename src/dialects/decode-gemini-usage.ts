import { createCountReader } from '../inference/count-reader.ts';
import type { CountReader } from '../inference/count-reader.ts';
import type { Usage, UsageReport } from '../inference/usage.ts';
import { isJsonObject } from '../platform/json/json-value.ts';
import type { JsonObject } from '../platform/json/json-value.ts';

/** Counts may be int64, and those are decimal strings in proto JSON: legal here, unlike in the other dialects. */
function createProtoCountReader(): CountReader {
  const counts = createCountReader();
  return {
    read: (value) => counts.read(typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value),
    trustworthy: counts.trustworthy,
  };
}

/** Tokens of sound or pictures in a list of `{modality, tokenCount}`. Absent when there is no such list; a list without them says 0. */
function readTokensOf(modality: 'AUDIO' | 'IMAGE', details: unknown, counts: CountReader): number | undefined {
  if (!Array.isArray(details)) return undefined;
  let tokens = 0;
  for (const detail of details) {
    if (isJsonObject(detail) && detail.modality === modality) tokens += counts.read(detail.tokenCount) ?? 0;
  }
  return tokens;
}

/** Proto leaves zeros out, so a total that the prompt alone makes up says that there was no output. */
function readOutputTokens(raw: JsonObject, input: number | undefined, counts: CountReader): number | undefined {
  const candidates = counts.read(raw.candidatesTokenCount);
  const thoughts = counts.read(raw.thoughtsTokenCount);
  if (candidates !== undefined || thoughts !== undefined) return (candidates ?? 0) + (thoughts ?? 0);
  const total = counts.read(raw.totalTokenCount);
  return total !== undefined && total === input ? 0 : undefined;
}

/** Pictures among the tokens. Without the split of the cached part, those that were sent count as not cached, up to what was not. */
function decodeImages(raw: JsonObject, counts: CountReader): Usage {
  const sent = readTokensOf('IMAGE', raw.promptTokensDetails, counts) ?? 0;
  const cached = readTokensOf('IMAGE', raw.cacheTokensDetails, counts) ?? 0;
  const made = readTokensOf('IMAGE', raw.candidatesTokensDetails, counts) ?? 0;
  return {
    ...(sent > cached && { inputImageTokens: sent - cached }),
    ...(cached > 0 && { cacheReadImageTokens: cached }),
    ...(made > 0 && { outputImageTokens: made }),
  };
}

function decodeCounts(raw: JsonObject, isFinal: boolean, counts: CountReader): { readonly usage: Usage; readonly isConsistent: boolean } {
  const prompt = counts.read(raw.promptTokenCount);
  const toolUse = counts.read(raw.toolUsePromptTokenCount) ?? 0;
  const cacheRead = counts.read(raw.cachedContentTokenCount);
  const reasoning = counts.read(raw.thoughtsTokenCount);
  const input = prompt === undefined ? undefined : prompt + toolUse;
  const rest = input === undefined ? undefined : input - (cacheRead ?? 0);
  const isSplit = rest === undefined || rest >= 0;
  // While a stream runs, an absent count of output only means that the vendor has not counted yet.
  const output = readOutputTokens(raw, isFinal ? input : undefined, counts);
  const audioDetails = [raw.promptTokensDetails, raw.toolUsePromptTokensDetails].map((details) => readTokensOf('AUDIO', details, counts));
  const inputAudio = audioDetails.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0);
  const cacheAudio = readTokensOf('AUDIO', raw.cacheTokensDetails, counts) ?? 0;
  const outputAudio = readTokensOf('AUDIO', raw.candidatesTokensDetails, counts) ?? 0;
  const freshAudio = inputAudio - cacheAudio;
  // Without the split of the cached part it is unknown how much of the sound was cached; more sound than input shows that some was.
  const isAudioKnown = freshAudio >= 0 && (rest === undefined || freshAudio <= rest);
  const usage: Usage = {
    // More from the cache than there was cannot be: then nothing is known of the cache.
    ...(isSplit && rest !== undefined && { inputTokens: rest }),
    ...(!isSplit && input !== undefined && { inputTokens: input }),
    ...(isSplit && cacheRead !== undefined && { cacheReadTokens: cacheRead }),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(inputAudio > 0 && isAudioKnown && { inputAudioTokens: freshAudio }),
    ...(isSplit && cacheAudio > 0 && { cacheReadAudioTokens: cacheAudio }),
    ...(outputAudio > 0 && { outputAudioTokens: outputAudio }),
    ...decodeImages(raw, counts),
  };
  return { usage, isConsistent: isSplit && (inputAudio === 0 || isAudioKnown) };
}

/**
 * Reads a `usageMetadata`. The vendor counts inclusively on the input side (`promptTokenCount` holds the cached tokens, but not those
 * that tools fed in) and additively on the output side (`candidatesTokenCount` holds no thoughts); ours are disjoint.
 *
 * @param isFinal whether the reply is whole: only then does an absent count mean zero
 * @returns undefined when there is no usage object
 */
export function decodeGeminiUsage(value: unknown, isFinal: boolean): UsageReport | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) return { usage: {}, raw: value, trustworthy: false };
  const counts = createProtoCountReader();
  const { usage, isConsistent } = decodeCounts(value, isFinal, counts);
  const toolPromptTokens = counts.read(value.toolUsePromptTokenCount) ?? 0;
  return {
    usage,
    raw: value,
    trustworthy: counts.trustworthy() && isConsistent,
    ...(toolPromptTokens > 0 && usage.inputTokens !== undefined && { toolPromptTokens }),
    ...(Array.isArray(value.promptTokensDetails) && { splitsInput: true }),
    ...(typeof value.serviceTier === 'string' && { serviceTier: value.serviceTier }),
  };
}
