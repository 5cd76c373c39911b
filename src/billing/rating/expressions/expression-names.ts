import type { Usage } from '../../../inference/usage.ts';

/** Words that the gateway reads from what is sent, or the vendor's reply says. Each is a text, or absent where nobody said it. */
export const parameterNames = ['resolution', 'inference_geo', 'speed', 'service_tier'] as const;

export type ParameterName = (typeof parameterNames)[number];

/** Counts of usage by the name they have in expressions. A count that nobody reported is 0. */
const usageCounts = {
  input_tokens: 'inputTokens',
  cache_read_tokens: 'cacheReadTokens',
  cache_write_5m_tokens: 'cacheWrite5mTokens',
  cache_write_1h_tokens: 'cacheWrite1hTokens',
  output_tokens: 'outputTokens',
  reasoning_tokens: 'reasoningTokens',
  input_audio_tokens: 'inputAudioTokens',
  output_audio_tokens: 'outputAudioTokens',
  input_image_tokens: 'inputImageTokens',
  output_image_tokens: 'outputImageTokens',
  input_characters: 'inputCharacters',
  input_audio_ms: 'inputAudioMs',
  output_audio_ms: 'outputAudioMs',
  output_video_ms: 'outputVideoMs',
  input_images: 'inputImages',
  output_images: 'outputImages',
  web_searches: 'webSearches',
  web_fetches: 'webFetches',
  file_searches: 'fileSearches',
  tool_calls: 'toolCalls',
  code_sessions: 'codeSessions',
} as const satisfies Record<string, keyof Usage>;

/** Seconds are exact: 1,500 milliseconds are 1.5. */
const seconds = {
  input_audio_seconds: 'inputAudioMs',
  output_audio_seconds: 'outputAudioMs',
  output_video_seconds: 'outputVideoMs',
} as const satisfies Record<string, keyof Usage>;

/** All input, cache included. */
const totalInput = 'total_input_tokens';

export type CountName = keyof typeof usageCounts | keyof typeof seconds | typeof totalInput;

const isKeyOf = <Table extends object>(table: Table, name: PropertyKey): name is keyof Table => Object.hasOwn(table, name);

export function isCountName(name: string): name is CountName {
  return isKeyOf(usageCounts, name) || isKeyOf(seconds, name) || name === totalInput;
}

export function isParameterName(name: string): name is ParameterName {
  return (parameterNames as readonly string[]).includes(name);
}

/** Every name there is, for messages. */
export const countNames: readonly string[] = [...Object.keys(usageCounts), ...Object.keys(seconds), totalInput];

/** Which counts of usage make up a named count, and how many of them are one. */
export function countParts(name: CountName): { readonly counts: readonly (keyof Usage)[]; readonly per: bigint } {
  if (isKeyOf(usageCounts, name)) return { counts: [usageCounts[name]], per: 1n };
  if (isKeyOf(seconds, name)) return { counts: [seconds[name]], per: 1000n };
  return { counts: ['inputTokens', 'cacheReadTokens', 'cacheWrite5mTokens', 'cacheWrite1hTokens'], per: 1n };
}
