import { boundImageTokens } from '../../../dialects/openai-images/bound-image-tokens.ts';
import type { ImageRequest, ImageSettings } from '../../../inference/image.ts';
import type { UsageReport } from '../../../inference/usage.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import type { Purchase } from '../../attempts/books/bound-call.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { imageInterfaceOf, imageTokens } from './bound-images.ts';

/**
 * What pictures of a target are charged by. `reported`: nothing has a price, so that whatever its upstream counts is as
 * good.
 */
export type ChargedBy = 'pieces' | 'tokens' | 'reported';

/** What is made up to one picture where its upstream counts nothing. */
const piece = { outputImages: 1 };
/** Each unfinished picture of a stream costs so many tokens. Source: the vendor's guide to image generation. */
const partialImageTokens = 100;

/** Servers of one's own count as they like: what has a price decides. */
export function findChargedBy({ priceBook, requestedModel, acceptedAtMs }: Purchase, target: Target): ChargedBy {
  if (imageInterfaceOf(target).counting === 'by-piece') return 'pieces';
  const call = { vendor: target.upstream.vendor.id, upstreamModel: target.upstreamModel, requestedModel, acceptedAtMs };
  if (priceBook.prices(call, {})) return 'tokens';
  return priceBook.prices(call, piece) ? 'pieces' : 'reported';
}

/** What is known of the pictures of a reply, or of a stream so far. */
export type GeneratedImages = {
  readonly finished: number;
  /** Unfinished ones that were shown. */
  readonly partial: number;
  readonly sources: number;
  /** How they were made, as far as the upstream says. */
  readonly settings: ImageSettings;
  /** What the upstream reports, where it does. */
  readonly reported: UsageReport | undefined;
};

/**
 * Counts pictures by what has a price. Tokens that nobody reported are estimated by size and quality, so that a broken
 * upstream is no free one.
 */
export function countImages(
  made: GeneratedImages,
  asked: ImageRequest,
  { counting }: ImageInterface,
  chargedBy: ChargedBy,
): UsageReport | undefined {
  const { finished, sources, reported } = made;
  const hasTokens = reported?.usage.outputTokens !== undefined;
  if (chargedBy === 'tokens' && !hasTokens) return estimate(made, asked, counting === 'native' ? 'native' : 'by-size');
  if (chargedBy === 'tokens' || (chargedBy === 'reported' && hasTokens) || finished === 0) return reported;
  const usage = { outputImages: finished, ...(sources > 0 && { inputImages: sources }) };
  const { raw = null, replyParameters } = reported ?? {};
  return { usage, raw, trustworthy: true, ...(replyParameters !== undefined && { replyParameters }) };
}

/** Output that goes on behind what is reported makes it an estimate in the books. */
function estimate(made: GeneratedImages, asked: ImageRequest, counting: 'by-size' | 'native'): UsageReport | undefined {
  const tokens = tokensOf(made, asked, counting);
  if (tokens === 0) return made.reported;
  const { raw = null, replyParameters } = made.reported ?? {};
  const parameters = replyParameters === undefined ? {} : { replyParameters };
  return { usage: imageTokens(tokens), raw, trustworthy: true, outputGoesOn: true, ...parameters };
}

/** Tokens of pictures that were shown, by what is known of how they were made. */
export function tokensOf({ finished, partial, settings }: GeneratedImages, asked: ImageRequest, counting: 'by-size' | 'native'): number {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(settings.size ?? '') ?? [];
  const size = width === undefined || height === undefined ? asked.size : { width: Number(width), height: Number(height) };
  const quality = (['low', 'medium', 'high'] as const).find((word) => word === settings.quality) ?? asked.quality;
  const { size: _size, quality: _quality, ...others } = asked;
  const known = { ...others, ...(size !== undefined && { size }), ...(quality !== undefined && { quality }), count: 1, partialImages: 0 };
  return finished * boundImageTokens(known, counting) + partial * partialImageTokens;
}
