import type { TokenLogprob } from '../inference/inference-reply.ts';
import { numberOf, objectsOf, textOf } from '../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';

/** The list of tokens that chat completions and Responses have in common: each with its logarithm, its bytes and its alternatives. */

function readLikely(entry: JsonObject): { readonly token: string; readonly logprob: number } | undefined {
  const token = textOf(entry.token);
  const logprob = numberOf(entry.logprob);
  return token === undefined || logprob === undefined ? undefined : { token, logprob };
}

/** Reads a list of tokens. Entries that are malformed are left out. */
export function decodeLikelyTokens(list: JsonValue | undefined): readonly TokenLogprob[] {
  return objectsOf(list).flatMap((entry): readonly TokenLogprob[] => {
    const chosen = readLikely(entry);
    if (chosen === undefined) return [];
    return [{ ...chosen, alternatives: objectsOf(entry.top_logprobs).flatMap((other) => readLikely(other) ?? []) }];
  });
}

const encodeLikely = ({ token, logprob }: Pick<TokenLogprob, 'token' | 'logprob'>): JsonObject => ({
  token,
  logprob,
  bytes: [...Buffer.from(token)],
});

/** Writes a list of tokens. */
export function encodeLikelyTokens(tokens: readonly TokenLogprob[]): readonly JsonObject[] {
  return tokens.map((token) => ({ ...encodeLikely(token), top_logprobs: token.alternatives.map(encodeLikely) }));
}
