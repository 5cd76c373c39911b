import { countOf, membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { readSeconds } from './read-transcript.ts';

const secondMs = 1000;

/** The billed milliseconds of a recording. The vendor rounds up to whole seconds. */
export function billedAudioMs(seconds: number): number {
  // In floating point, nine seconds of samples can be 9.000000000000002.
  return Math.max(0, Math.ceil(seconds - 1e-6)) * secondMs;
}

/**
 * Reads the usage of a reply or of a stream's final event: tokens, or seconds if the model is billed by the minute.
 * Undefined if there is none.
 * @param output whether the output tokens are audio
 */
export function readAudioUsage(value: JsonValue | undefined, output: 'text' | 'audio'): UsageReport | undefined {
  if (!isJsonObject(value)) return undefined;
  return value['type'] === 'duration' ? readDuration(value) : readTokens(value, output);
}

function readDuration(raw: JsonObject): UsageReport {
  const seconds = readSeconds(raw['seconds']);
  const isTrustworthy = seconds !== undefined && seconds < secondsMax;
  return { usage: isTrustworthy ? { inputAudioMs: billedAudioMs(seconds) } : {}, raw, trustworthy: isTrustworthy };
}

/** A year. A larger value is an error, and would be billed. */
const secondsMax = 31_536_000;

function readTokens(raw: JsonObject, output: 'text' | 'audio'): UsageReport | undefined {
  const inputTokens = countOf(raw['input_tokens']);
  const outputTokens = countOf(raw['output_tokens']);
  if (raw['input_tokens'] === undefined && raw['output_tokens'] === undefined) return undefined;
  const audio = countOf(membersOf(raw['input_token_details'])['audio_tokens']);
  const usage: Usage = {
    ...(inputTokens === undefined ? {} : { inputTokens }),
    ...(audio === undefined || inputTokens === undefined || audio > inputTokens ? {} : { inputAudioTokens: audio }),
    ...(outputTokens === undefined ? {} : { outputTokens }),
    ...(output === 'audio' && outputTokens !== undefined ? { outputAudioTokens: outputTokens } : {}),
  };
  return { usage, raw, trustworthy: inputTokens !== undefined && outputTokens !== undefined };
}
