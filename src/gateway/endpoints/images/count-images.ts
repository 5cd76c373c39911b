import { boundImageTokens } from '../../../dialects/openai-images/bound-image-tokens.ts';
import type { ImageRequest, ImageSettings } from '../../../inference/image.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import type { Purchase } from '../../attempts/books/bound-call.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { imageInterfaceOf, imageTokens } from './bound-images.ts';

/**
 * The unit by which images of a target are charged. `reported`: no unit has a price, so the unit of the upstream is
 * used.
 */
export type ChargedBy = 'pieces' | 'tokens' | 'reported';

/** The usage of one image if the upstream reports none. */
const piece = { outputImages: 1 };
/** Tokens of each partial image of a stream. Source: the vendor's guide to image generation. */
const partialImageTokens = 100;

/** Self-hosted servers report tokens or images: the unit that has a price decides. */
export function findChargedBy({ priceBook, requestedModel, acceptedAtMs }: Purchase, target: Target): ChargedBy {
  if (imageInterfaceOf(target).counting === 'by-piece') return 'pieces';
  const call = { vendor: target.upstream.vendor.id, upstreamModel: target.upstreamModel, requestedModel, acceptedAtMs };
  if (priceBook.prices(call, {})) return 'tokens';
  return priceBook.prices(call, piece) ? 'pieces' : 'reported';
}

/** The images of a reply, or of a stream until now. */
export type GeneratedImages = {
  readonly finished: number;
  /** Partial images that were delivered. */
  readonly partial: number;
  readonly sources: number;
  /** The settings that the upstream reports. */
  readonly settings: ImageSettings;
  /** The usage that the upstream reports. */
  readonly reported: UsageReport | undefined;
};

/**
 * Counts images by the unit that has a price. Unreported tokens are estimated by size and quality, so that a broken
 * upstream is not free.
 */
export function countImages(
  made: GeneratedImages,
  request: ImageRequest,
  { counting }: ImageInterface,
  chargedBy: ChargedBy,
): UsageReport | undefined {
  const { finished, sources, reported } = made;
  const hasTokens = reported?.usage.outputTokens !== undefined;
  if (chargedBy === 'tokens' && !hasTokens) return estimate(made, request, counting === 'native' ? 'native' : 'by-size');
  if (chargedBy === 'tokens' || (chargedBy === 'reported' && hasTokens) || finished === 0) return reported;
  const usage = { outputImages: finished, ...(sources > 0 && { inputImages: sources }) };
  const { raw = null, replyParameters } = reported ?? {};
  return { usage, raw, trustworthy: true, ...(replyParameters !== undefined && { replyParameters }) };
}

/** `outputGoesOn` marks the usage as an estimate in the books. */
function estimate(made: GeneratedImages, request: ImageRequest, counting: 'by-size' | 'native'): UsageReport | undefined {
  const tokens = tokensOf(made, request, counting);
  if (tokens === 0) return made.reported;
  const { raw = null, replyParameters } = made.reported ?? {};
  const parameters = replyParameters === undefined ? {} : { replyParameters };
  return { usage: imageTokens(tokens), raw, trustworthy: true, outputGoesOn: true, ...parameters };
}

/** Tokens of the delivered images, by their reported or requested settings. */
export function tokensOf({ finished, partial, settings }: GeneratedImages, request: ImageRequest, counting: 'by-size' | 'native'): number {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(settings.size ?? '') ?? [];
  const size = width === undefined || height === undefined ? request.size : { width: Number(width), height: Number(height) };
  const quality = (['low', 'medium', 'high'] as const).find((word) => word === settings.quality) ?? request.quality;
  const { size: _size, quality: _quality, ...others } = request;
  const measured = {
    ...others,
    ...(size !== undefined && { size }),
    ...(quality !== undefined && { quality }),
    count: 1,
    partialImages: 0,
  };
  return finished * boundImageTokens(measured, counting) + partial * partialImageTokens;
}
