import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import { boundImageTokens } from '../../../dialects/openai-images/bound-image-tokens.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import type { Target } from '../../attempts/routing/target.ts';

/** Models add tokens of their own around a prompt. */
const ownTokens = 64;
/** A source image, at the highest and at the usual fidelity. */
const sourceTokensMax = 8192;
const sourceTokensExpected = 1024;
/** Reasoning and text of a chat model beside an image. */
const nativeTextTokensMax = 2048;
const nativeTokensExpected = 1290;

/** The image interface of a target. Only for targets that make images. */
export function imageInterfaceOf({ upstream, upstreamModel, is }: Target): ImageInterface {
  const found = upstream.services.images?.(is ?? upstreamModel);
  if (found === undefined) throw new Error(`${upstream.id} has no image interface`);
  return found;
}

/**
 * The usage bounds of an image request at a target, for holds, quotes and the check of reported usage. Self-hosted
 * servers count tokens or images: the bound has both, because only what has a price costs anything.
 */
export function boundImages(request: ImageRequest, target: Target): UsageBounds {
  const { counting } = imageInterfaceOf(target);
  const sources = request.sources.length + (request.mask === undefined ? 0 : 1);
  const pieces = { outputImages: request.count, ...(sources > 0 && { inputImages: sources }) };
  if (counting === 'by-piece') return { expected: pieces, most: pieces };
  const expectedInput = estimateTokens(request.prompt.length) + sources * sourceTokensExpected;
  const native = counting === 'native';
  return {
    expected: { inputTokens: expectedInput, ...imageTokens(native ? request.count * nativeTokensExpected : estimateImageTokens(request)) },
    most: {
      ...pieces,
      inputTokens: Buffer.byteLength(request.prompt) + ownTokens + sources * sourceTokensMax,
      outputTokens: boundImageTokens(request, counting) + (native ? nativeTextTokensMax : 0),
    },
  };
}

/** Models that choose the quality themselves mostly choose medium. */
function estimateImageTokens(request: ImageRequest): number {
  const { quality } = request;
  return boundImageTokens({ ...request, quality: quality === undefined || quality === 'standard' ? 'medium' : quality }, 'by-size');
}

/** Output tokens that are images. */
export function imageTokens(tokens: number): Usage {
  return { outputTokens: tokens, outputImageTokens: tokens };
}
