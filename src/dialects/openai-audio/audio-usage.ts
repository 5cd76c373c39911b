import { countOf, membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { readSeconds } from './read-transcript.ts';

const secondMs = 1000;

/** Milliseconds that are billed for so many seconds of sound: the vendor rounds up to whole seconds. */
export function billedAudioMs(seconds: number): number {
  // Floating point makes 9.000000000000002 of nine seconds of samples.
  return Math.max(0, Math.ceil(seconds - 1e-6)) * secondMs;
}

/**
 * Reads the usage of a reply or of an event that ends a stream: tokens, or seconds where the model is billed by the minute. Undefined where there is none.
 * @param output whether the tokens that were made are sound
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

/** A year. More is a mistake, and would be a bill. */
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
