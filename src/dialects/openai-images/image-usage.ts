import { createCountReader } from '../../inference/count-reader.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/** Reads the tokens of a usage object of the image interface. Undefined if it has none. */
export function readImageTokens(value: JsonValue | undefined): UsageReport | undefined {
  if (!isJsonObject(value)) return undefined;
  if ((value['input_tokens'] ?? undefined) === undefined && (value['output_tokens'] ?? undefined) === undefined) return undefined;
  const counts = createCountReader();
  const input = readSide(value['input_tokens'], value['input_tokens_details'], counts.read);
  const output = readSide(value['output_tokens'], value['output_tokens_details'], counts.read);
  const usage: Usage = {
    ...(input.total !== undefined && { inputTokens: input.total - input.cached }),
    ...(input.cached > 0 && { cacheReadTokens: input.cached }),
    ...(input.images !== undefined && input.images > input.cachedImages && { inputImageTokens: input.images - input.cachedImages }),
    ...(input.cachedImages > 0 && { cacheReadImageTokens: input.cachedImages }),
    ...(output.total !== undefined && { outputTokens: output.total }),
    // Without a split all output is images: models from before the split generate nothing else.
    ...(output.total !== undefined && { outputImageTokens: output.images ?? output.total }),
  };
  return { usage, raw: value, trustworthy: counts.trustworthy() && input.isConsistent && output.isConsistent, splitsInput: true };
}

type Side = {
  readonly total: number | undefined;
  readonly images: number | undefined;
  readonly cached: number;
  readonly cachedImages: number;
  readonly isConsistent: boolean;
};

/** One side of the tokens. Parts that exceed their total are unreliable and are omitted. */
function readSide(count: JsonValue | undefined, parts: JsonValue | undefined, read: (value: unknown) => number | undefined): Side {
  const details = membersOf(parts);
  const total = read(count);
  const images = read(details['image_tokens']);
  const cached = read(details['cached_tokens']) ?? 0;
  const cachedImages = read(membersOf(details['cached_tokens_details'])['image_tokens']) ?? 0;
  if (total === undefined) return { total, images: undefined, cached: 0, cachedImages: 0, isConsistent: images === undefined };
  const fits = (images ?? 0) <= total && cached <= total && cachedImages <= Math.min(images ?? cached, cached);
  const freshFits = (images ?? 0) - cachedImages <= total - cached;
  if (!fits || !freshFits) return { total, images: undefined, cached: 0, cachedImages: 0, isConsistent: false };
  return { total, images, cached, cachedImages, isConsistent: true };
}

/** Usage of a reply whose upstream counts images: those generated, and their sources. */
export function countImages(images: number, sources: number, raw: JsonValue | undefined): UsageReport {
  return { usage: { outputImages: images, ...(sources > 0 && { inputImages: sources }) }, raw: raw ?? null, trustworthy: true };
}

/** Writes usage for clients of the image interface. Undefined if tokens are unknown. */
export function writeImageTokens({ usage }: UsageReport): JsonObject | undefined {
  const { inputTokens, outputTokens, cacheReadTokens = 0 } = usage;
  if (inputTokens === undefined || outputTokens === undefined) return undefined;
  const input = inputTokens + cacheReadTokens;
  const inputImages = (usage.inputImageTokens ?? 0) + (usage.cacheReadImageTokens ?? 0);
  const { outputImageTokens } = usage;
  return {
    total_tokens: input + outputTokens,
    input_tokens: input,
    output_tokens: outputTokens,
    input_tokens_details: {
      text_tokens: input - inputImages,
      image_tokens: inputImages,
      ...(cacheReadTokens > 0 && { cached_tokens: cacheReadTokens }),
    },
    ...(outputImageTokens !== undefined && {
      output_tokens_details: { image_tokens: outputImageTokens, text_tokens: outputTokens - outputImageTokens },
    }),
  };
}
