import { createCountReader } from '../../inference/count-reader.ts';
import type { Usage, UsageReport } from '../../inference/usage.ts';
import { membersOf } from '../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../platform/json/json-value.ts';

/** Reads the tokens of a usage object of the image interface; undefined where it has none. */
export function readImageTokens(value: JsonValue | undefined): UsageReport | undefined {
  if (!isJsonObject(value)) return undefined;
  if ((value['input_tokens'] ?? undefined) === undefined && (value['output_tokens'] ?? undefined) === undefined) return undefined;
  const counts = createCountReader();
  const input = readSide(value['input_tokens'], value['input_tokens_details'], counts.read);
  const output = readSide(value['output_tokens'], value['output_tokens_details'], counts.read);
  const usage: Usage = {
    ...(input.whole !== undefined && { inputTokens: input.whole - input.cached }),
    ...(input.cached > 0 && { cacheReadTokens: input.cached }),
    ...(input.images !== undefined && input.images > input.cachedImages && { inputImageTokens: input.images - input.cachedImages }),
    ...(input.cachedImages > 0 && { cacheReadImageTokens: input.cachedImages }),
    ...(output.whole !== undefined && { outputTokens: output.whole }),
    // Without a split all output is pictures: these models made nothing else before the split was told.
    ...(output.whole !== undefined && { outputImageTokens: output.images ?? output.whole }),
  };
  return { usage, raw: value, trustworthy: counts.trustworthy() && input.isConsistent && output.isConsistent, splitsInput: true };
}

type Side = {
  readonly whole: number | undefined;
  readonly images: number | undefined;
  readonly cached: number;
  readonly cachedImages: number;
  readonly isConsistent: boolean;
};

/** One side of the tokens. Parts that do not fit into their whole are left out: nothing is known of them then. */
function readSide(count: JsonValue | undefined, parts: JsonValue | undefined, read: (value: unknown) => number | undefined): Side {
  const details = membersOf(parts);
  const whole = read(count);
  const images = read(details['image_tokens']);
  const cached = read(details['cached_tokens']) ?? 0;
  const cachedImages = read(membersOf(details['cached_tokens_details'])['image_tokens']) ?? 0;
  if (whole === undefined) return { whole, images: undefined, cached: 0, cachedImages: 0, isConsistent: images === undefined };
  const fits = (images ?? 0) <= whole && cached <= whole && cachedImages <= Math.min(images ?? cached, cached);
  const freshFits = (images ?? 0) - cachedImages <= whole - cached;
  if (!fits || !freshFits) return { whole, images: undefined, cached: 0, cachedImages: 0, isConsistent: false };
  return { whole, images, cached, cachedImages, isConsistent: true };
}

/** Usage of a reply whose upstream counts pictures: those that came, and those that they were made from. */
export function countPictures(images: number, sources: number, raw: JsonValue | undefined): UsageReport {
  return { usage: { outputImages: images, ...(sources > 0 && { inputImages: sources }) }, raw: raw ?? null, trustworthy: true };
}

/** Writes usage as clients of the image interface read it; undefined where tokens are not known. */
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
