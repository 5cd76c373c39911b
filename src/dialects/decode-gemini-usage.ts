import { createCountReader } from '../inference/count-reader.ts';
import type { CountReader } from '../inference/count-reader.ts';
import type { Usage, UsageReport } from '../inference/usage.ts';
import { isJsonObject } from '../platform/json/json-value.ts';
import type { JsonObject } from '../platform/json/json-value.ts';

/** Counts may be int64, which proto JSON writes as decimal strings. No other dialect permits this. */
function createProtoCountReader(): CountReader {
  const counts = createCountReader();
  return {
    read: (value) => counts.read(typeof value === 'string' && /^\d{1,16}$/.test(value) ? Number(value) : value),
    trustworthy: counts.trustworthy,
  };
}

/**
 * Tokens of audio or images in a list of `{modality, tokenCount}`. Undefined without a list; 0 if the list has none of
 * them.
 */
function readTokensOf(modality: 'AUDIO' | 'IMAGE', details: unknown, counts: CountReader): number | undefined {
  if (!Array.isArray(details)) return undefined;
  let tokens = 0;
  for (const detail of details) {
    if (isJsonObject(detail) && detail.modality === modality) tokens += counts.read(detail.tokenCount) ?? 0;
  }
  return tokens;
}

/** Proto omits zeros. So if the total equals the prompt, there was no output. */
function readOutputTokens(raw: JsonObject, input: number | undefined, counts: CountReader): number | undefined {
  const candidates = counts.read(raw.candidatesTokenCount);
  const thoughts = counts.read(raw.thoughtsTokenCount);
  if (candidates !== undefined || thoughts !== undefined) return (candidates ?? 0) + (thoughts ?? 0);
  const total = counts.read(raw.totalTokenCount);
  return total !== undefined && total === input ? 0 : undefined;
}

/**
 * Image tokens. If the split of the cached part is missing, the images of the input count as not cached, up to the
 * input that was not cached.
 */
function decodeImages(raw: JsonObject, counts: CountReader): Usage {
  const sent = readTokensOf('IMAGE', raw.promptTokensDetails, counts) ?? 0;
  const cached = readTokensOf('IMAGE', raw.cacheTokensDetails, counts) ?? 0;
  const generated = readTokensOf('IMAGE', raw.candidatesTokensDetails, counts) ?? 0;
  return {
    ...(sent > cached && { inputImageTokens: sent - cached }),
    ...(cached > 0 && { cacheReadImageTokens: cached }),
    ...(generated > 0 && { outputImageTokens: generated }),
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
  // During a stream, an absent output count only means that the vendor has not counted yet.
  const output = readOutputTokens(raw, isFinal ? input : undefined, counts);
  const audioDetails = [raw.promptTokensDetails, raw.toolUsePromptTokensDetails].map((details) => readTokensOf('AUDIO', details, counts));
  const inputAudio = audioDetails.reduce<number>((sum, tokens) => sum + (tokens ?? 0), 0);
  const cacheAudio = readTokensOf('AUDIO', raw.cacheTokensDetails, counts) ?? 0;
  const outputAudio = readTokensOf('AUDIO', raw.candidatesTokensDetails, counts) ?? 0;
  const freshAudio = inputAudio - cacheAudio;
  // Without the split of the cached part, the cached audio is unknown. More audio than uncached input shows that some
  // audio was cached.
  const isAudioKnown = freshAudio >= 0 && (rest === undefined || freshAudio <= rest);
  const usage: Usage = {
    // The cached part cannot exceed the input. If it does, the cache counts are unknown.
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
 * Reads a `usageMetadata`. The vendor's input count is inclusive (`promptTokenCount` includes cached tokens, but not
 * those that tools added). Its output count is additive (`candidatesTokenCount` does not include thoughts). Our counts
 * are disjoint.
 *
 * @param isFinal whether the reply is whole: only then does an absent count mean zero
 * @returns undefined if there is no usage object
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
