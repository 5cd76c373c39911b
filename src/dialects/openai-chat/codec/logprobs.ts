import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import type { InferenceRequest, TokenLogprobsRequest } from '../../../inference/inference-request.ts';
import { findLogprobsObstacle, fitLogprobs } from '../../../inference/token-logprobs.ts';
import { membersOf, numberOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';
import { decodeTokenLogprobs, encodeTokenLogprobs } from '../../openai-logprobs.ts';

/**
 * Requests log probabilities.
 *
 * @param isRewritten whether the client receives another text than the upstream writes
 */
export function encodeLogprobs(request: InferenceRequest, { traits, notes }: RequestFit, isRewritten: boolean): JsonObject {
  const requested = fitLogprobs(request, notes, findLogprobsObstacle(traits, isRewritten));
  if (requested === undefined) return {};
  return { logprobs: true, ...(requested.alternatives === undefined ? {} : { top_logprobs: requested.alternatives }) };
}

/** The request for log probabilities. */
export function decodeLogprobsRequest({ logprobs, top_logprobs: top }: JsonObject): TokenLogprobsRequest | undefined {
  if (logprobs !== true) return undefined;
  const alternatives = numberOf(top);
  return { ...(alternatives === undefined || alternatives === 0 ? {} : { alternatives }), fields: ['logprobs', 'top_logprobs'] };
}

/** Writes `logprobs` of a choice. Null if there are none or the client did not request them. */
export function encodeLogprobsReply(tokens: readonly TokenLogprob[], request: JsonObject): JsonObject | null {
  if (tokens.length === 0 || request.logprobs !== true) return null;
  return { content: encodeTokenLogprobs(tokens), refusal: null };
}

export const decodeLogprobs = (logprobs: JsonValue | undefined): readonly TokenLogprob[] =>
  decodeTokenLogprobs(membersOf(logprobs).content);
