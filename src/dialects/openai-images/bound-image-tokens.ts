import type { ImageRequest } from '../../inference/image.ts';

// Tokens of an image by size and quality, from the vendor's guide to image generation. Each partial image of a stream
// costs 100 more.
const partialImageTokens = 100;
const tokensBySize: Readonly<Record<string, Readonly<Record<'low' | 'medium' | 'high', number>>>> = {
  '1024x1024': { low: 272, medium: 1056, high: 4160 },
  '1024x1536': { low: 408, medium: 1584, high: 6240 },
  '1536x1024': { low: 400, medium: 1568, high: 6208 },
};
const listedPixels = 1024 * 1536;
const listedMost = 6240;
/** The largest possible image: 3840x2160. */
const pixelsMax = 3840 * 2160;

/** Tokens of a 4K image, the largest class, of Gemini's image models. Smaller ones have 1,120 to 1,290. */
const nativeMost = 2000;

/**
 * The highest number of output tokens of a request, for holds. For sizes outside the list, the pixels at the highest
 * quality decide; `auto` is bounded by the listed sizes.
 * @param counting how the upstream counts: OpenAI's models by size and quality, Gemini's by class
 */
export function boundImageTokens(request: ImageRequest, counting: 'by-size' | 'native'): number {
  if (counting === 'native') return request.count * nativeMost;
  return request.count * (mostOf(request) + request.partialImages * partialImageTokens);
}

function mostOf({ size, quality }: ImageRequest): number {
  if (size === undefined) return quality === 'low' ? 408 : quality === 'medium' ? 1584 : listedMost;
  const listed = tokensBySize[`${size.width}x${size.height}`];
  if (listed !== undefined) return quality === 'low' || quality === 'medium' ? listed[quality] : listed.high;
  const pixels = Math.min(size.width * size.height, pixelsMax);
  return Math.max(listedMost, Math.ceil((listedMost * pixels) / listedPixels));
}
