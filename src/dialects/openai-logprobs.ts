import type { TokenLogprob } from '../inference/inference-reply.ts';
import { numberOf, objectsOf, textOf } from '../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../platform/json/json-value.ts';

/**
 * The list of tokens that chat completions and Responses share: each with its log probability, its bytes and its
 * alternatives.
 */

function readLogprob(entry: JsonObject): { readonly token: string; readonly logprob: number } | undefined {
  const token = textOf(entry.token);
  const logprob = numberOf(entry.logprob);
  return token === undefined || logprob === undefined ? undefined : { token, logprob };
}

/** Malformed entries are omitted. */
export function decodeTokenLogprobs(list: JsonValue | undefined): readonly TokenLogprob[] {
  return objectsOf(list).flatMap((entry): readonly TokenLogprob[] => {
    const chosen = readLogprob(entry);
    if (chosen === undefined) return [];
    return [{ ...chosen, alternatives: objectsOf(entry.top_logprobs).flatMap((other) => readLogprob(other) ?? []) }];
  });
}

const encodeLogprob = ({ token, logprob }: Pick<TokenLogprob, 'token' | 'logprob'>): JsonObject => ({
  token,
  logprob,
  bytes: [...Buffer.from(token)],
});

export function encodeTokenLogprobs(tokens: readonly TokenLogprob[]): readonly JsonObject[] {
  return tokens.map((token) => ({ ...encodeLogprob(token), top_logprobs: token.alternatives.map(encodeLogprob) }));
}
