import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import type { InferenceRequest, TokenLogprobsRequest } from '../../../inference/inference-request.ts';
import { findLogprobsObstacle, fitLogprobs } from '../../../inference/token-logprobs.ts';
import { membersOf, numberOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { decodeLikelyTokens, encodeLikelyTokens } from '../../openai-logprobs.ts';

/**
 * Asks for probabilities of tokens.
 *
 * @param isRewritten whether the client gets another text than the one that the upstream writes
 */
export function encodeLogprobs(request: InferenceRequest, { traits, notes }: RequestFit, isRewritten: boolean): JsonObject {
  const asked = fitLogprobs(request, notes, findLogprobsObstacle(traits, isRewritten));
  if (asked === undefined) return {};
  return { logprobs: true, ...(asked.alternatives === undefined ? {} : { top_logprobs: asked.alternatives }) };
}

/** Probabilities of tokens that a client asks for. */
export function decodeLogprobsRequest({ logprobs, top_logprobs: top }: JsonObject): TokenLogprobsRequest | undefined {
  if (logprobs !== true) return undefined;
  const alternatives = numberOf(top);
  return { ...(alternatives === undefined || alternatives === 0 ? {} : { alternatives }), fields: ['logprobs', 'top_logprobs'] };
}

/** Writes `logprobs` of a choice; null where there are none, or the client did not ask. */
export function encodeLogprobsReply(tokens: readonly TokenLogprob[], request: JsonObject): JsonObject | null {
  if (tokens.length === 0 || request.logprobs !== true) return null;
  return { content: encodeLikelyTokens(tokens), refusal: null };
}

/** Reads `logprobs` of a choice. */
export const decodeLogprobs = (logprobs: JsonValue | undefined): readonly TokenLogprob[] => decodeLikelyTokens(membersOf(logprobs).content);
