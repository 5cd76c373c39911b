import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import { membersOf, numberOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';

function readLikely(entry: JsonObject): { readonly token: string; readonly logprob: number } | undefined {
  const token = textOf(entry.token);
  // Proto leaves a zero out: such a token was certain.
  const logprob = entry.logProbability === undefined ? 0 : numberOf(entry.logProbability);
  return token === undefined || logprob === undefined ? undefined : { token, logprob };
}

/** Reads `logprobsResult` of a candidate. */
export function decodeLogprobs(result: JsonValue | undefined): readonly TokenLogprob[] {
  const { chosenCandidates, topCandidates } = membersOf(result);
  const others = Array.isArray(topCandidates) ? (topCandidates as readonly JsonValue[]) : [];
  return (Array.isArray(chosenCandidates) ? (chosenCandidates as readonly JsonValue[]) : []).flatMap(
    (entry, at): readonly TokenLogprob[] => {
      const chosen = readLikely(membersOf(entry));
      if (chosen === undefined) return [];
      return [{ ...chosen, alternatives: objectsOf(membersOf(others[at]).candidates).flatMap((other) => readLikely(other) ?? []) }];
    },
  );
}
