import { createCountReader } from '../../inference/count-reader.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { isJsonObject } from '../../platform/json/json-value.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';

const noDetails: JsonObject = {};

const asObject = (value: unknown): JsonObject => (isJsonObject(value) ? value : noDetails);

/**
 * Reads the `usage` of a response. The vendor counts inclusively: `input_tokens` includes cached and cache-written
 * tokens, `output_tokens` includes reasoning. Our counts are disjoint. If a total is smaller than its parts, the cached
 * parts are unknown and the report is not trustworthy. Undefined if there is no usage object.
 */
export function decodeUsage(value: unknown): UsageReport | undefined {
  if (value === undefined || value === null) return undefined;
  if (!isJsonObject(value)) return { usage: {}, raw: value, trustworthy: false };
  const counts = createCountReader();
  const inputDetails = asObject(value.input_tokens_details);
  const total = counts.read(value.input_tokens);
  const cacheRead = counts.read(inputDetails.cached_tokens);
  const cacheWrite = counts.read(inputDetails.cache_write_tokens);
  const output = counts.read(value.output_tokens);
  const reasoning = counts.read(asObject(value.output_tokens_details).reasoning_tokens);
  const toolCalls = counts.read(value.num_server_side_tools_used);
  const inputImage = counts.read(inputDetails.image_tokens);
  const outputImage = counts.read(asObject(value.output_tokens_details).image_tokens);
  const rest = total === undefined ? undefined : total - (cacheRead ?? 0) - (cacheWrite ?? 0);
  // The cached part cannot exceed the input. If it does, the cache counts are unknown.
  const isConsistent = rest === undefined || rest >= 0;
  const usage: Usage = {
    ...(isConsistent ? inputOf(rest, cacheRead, cacheWrite) : inputOf(total)),
    ...(output !== undefined && { outputTokens: output }),
    ...(reasoning !== undefined && { reasoningTokens: reasoning }),
    ...(inputImage !== undefined && { inputImageTokens: inputImage }),
    ...(outputImage !== undefined && { outputImageTokens: outputImage }),
    ...(toolCalls !== undefined && { toolCalls }),
  };
  return { usage, raw: value, trustworthy: counts.trustworthy() && isConsistent };
}

function inputOf(inputTokens: number | undefined, cacheReadTokens?: number, cacheWrite5mTokens?: number): Usage {
  return {
    ...(inputTokens !== undefined && { inputTokens }),
    ...(cacheReadTokens !== undefined && { cacheReadTokens }),
    ...(cacheWrite5mTokens !== undefined && { cacheWrite5mTokens }),
  };
}
