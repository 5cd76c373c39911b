import type { UsageBounds } from '../../../billing/metering/estimate-usage.ts';
import { boundImageTokens } from '../../../dialects/openai-images/bound-image-tokens.ts';
import { estimateTokens } from '../../../inference/count-text-characters.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import type { Usage } from '../../../inference/usage.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import type { Target } from '../../attempts/routing/target.ts';

/** Models put marks and words of their own around a prompt. */
const ownTokens = 64;
/** A picture that something is made from, at the highest fidelity, and as it usually is. */
const sourceTokensMax = 8192;
const sourceTokensExpected = 1024;
/** What models with native pictures think and write beside one. */
const nativeTextTokensMax = 2048;
const nativeTokensExpected = 1290;

/** How the pictures of a target are made. Only for targets that make some. */
export function imageInterfaceOf({ upstream, upstreamModel }: Target): ImageInterface {
  const found = upstream.services.images?.(upstreamModel);
  if (found === undefined) throw new Error(`${upstream.id} makes no pictures`);
  return found;
}

/**
 * What a request for pictures may use at a target: the one reckoning of holds, of quotes and of what is believed of reports. Servers of one's own may count tokens or
 * pictures: the most is both, and what has no price costs nothing.
 */
export function boundImages(asked: ImageRequest, target: Target): UsageBounds {
  const { counting } = imageInterfaceOf(target);
  const sources = asked.sources.length + (asked.mask === undefined ? 0 : 1);
  const pieces = { outputImages: asked.count, ...(sources > 0 && { inputImages: sources }) };
  if (counting === 'by-piece') return { expected: pieces, most: pieces };
  const expectedInput = estimateTokens(asked.prompt.length) + sources * sourceTokensExpected;
  const native = counting === 'native';
  return {
    expected: { inputTokens: expectedInput, ...imageTokens(native ? asked.count * nativeTokensExpected : estimateImageTokens(asked)) },
    most: {
      ...pieces,
      inputTokens: Buffer.byteLength(asked.prompt) + ownTokens + sources * sourceTokensMax,
      outputTokens: boundImageTokens(asked, counting) + (native ? nativeTextTokensMax : 0),
    },
  };
}

/** What models choose that are left to choose is medium, mostly. */
function estimateImageTokens(asked: ImageRequest): number {
  const { quality } = asked;
  return boundImageTokens({ ...asked, quality: quality === undefined || quality === 'standard' ? 'medium' : quality }, 'by-size');
}

/** Output that is pictures. */
export function imageTokens(tokens: number): Usage {
  return { outputTokens: tokens, outputImageTokens: tokens };
}
