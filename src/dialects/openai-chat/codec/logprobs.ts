import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import type { InferenceRequest, TokenLogprobsRequest } from '../../../inference/inference-request.ts';
import { fitLogprobs, rewrittenReply } from '../../../inference/token-logprobs.ts';
import { membersOf, numberOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';

/**
 * Asks for probabilities of tokens.
 *
 * @param isRewritten whether the client gets another text than the one that the upstream writes
 */
export function encodeLogprobs(request: InferenceRequest, { traits, notes }: RequestFit, isRewritten: boolean): JsonObject {
  const isTold = !traits.fixedSampling && traits.chat.acceptsLogprobs;
  const obstacle = isTold
    ? isRewritten
      ? rewrittenReply
      : undefined
    : 'the upstream of this model does not tell how likely its tokens are';
  const asked = fitLogprobs(request, notes, obstacle);
  if (asked === undefined) return {};
  return { logprobs: true, ...(asked.alternatives === undefined ? {} : { top_logprobs: asked.alternatives }) };
}

/** Probabilities of tokens that a client asks for. */
export function decodeLogprobsRequest({ logprobs, top_logprobs: top }: JsonObject): TokenLogprobsRequest | undefined {
  if (logprobs !== true) return undefined;
  const alternatives = numberOf(top);
  return { ...(alternatives === undefined || alternatives === 0 ? {} : { alternatives }), fields: ['logprobs', 'top_logprobs'] };
}

const encodeLikely = ({ token, logprob }: Pick<TokenLogprob, 'token' | 'logprob'>): JsonObject => ({
  token,
  logprob,
  bytes: [...Buffer.from(token)],
});

/** Writes `logprobs` of a choice; null where there are none, or the client did not ask. */
export function encodeLikelyTokens(tokens: readonly TokenLogprob[], request: JsonObject): JsonObject | null {
  if (tokens.length === 0 || request.logprobs !== true) return null;
  const content = tokens.map((token) => ({ ...encodeLikely(token), top_logprobs: token.alternatives.map(encodeLikely) }));
  return { content, refusal: null };
}

function readLikely(entry: JsonObject): { readonly token: string; readonly logprob: number } | undefined {
  const token = textOf(entry.token);
  const logprob = numberOf(entry.logprob);
  return token === undefined || logprob === undefined ? undefined : { token, logprob };
}

/** Reads `logprobs` of a choice. */
export function decodeLogprobs(logprobs: JsonValue | undefined): readonly TokenLogprob[] {
  return objectsOf(membersOf(logprobs).content).flatMap((entry): readonly TokenLogprob[] => {
    const chosen = readLikely(entry);
    if (chosen === undefined) return [];
    return [{ ...chosen, alternatives: objectsOf(entry.top_logprobs).flatMap((other) => readLikely(other) ?? []) }];
  });
}
