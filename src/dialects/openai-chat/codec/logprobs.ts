import { dropVendorFields } from '../../../inference/drop-vendor-fields.ts';
import type { TokenLogprob } from '../../../inference/inference-reply.ts';
import type { InferenceRequest } from '../../../inference/inference-request.ts';
import { membersOf, numberOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import type { RequestFit } from '../../chat-codec.ts';

/** The vendor takes so many. */
const alternativesMax = 20;

/** The request without the fields that ask for probabilities of tokens: `encodeLogprobs` carries them, or names them as lost. */
export function withoutLogprobFields(request: InferenceRequest): InferenceRequest {
  const { tokenLogprobs, vendorFields } = request;
  if (tokenLogprobs === undefined) return request;
  return { ...request, vendorFields: vendorFields.filter(({ field }) => !tokenLogprobs.fields.includes(field)) };
}

/**
 * Asks for probabilities of tokens, where another dialect's client did.
 *
 * @param isRewritten whether the client gets another text than the one that the upstream writes
 */
export function encodeLogprobs({ tokenLogprobs, vendorFields }: InferenceRequest, fit: RequestFit, isRewritten: boolean): JsonObject {
  if (tokenLogprobs === undefined) return {};
  const { alternatives, fields } = tokenLogprobs;
  const { fixedSampling, chat } = fit.traits;
  const asked = vendorFields.filter(({ field }) => fields.includes(field));
  if (fixedSampling || !chat.acceptsLogprobs) {
    dropVendorFields(asked, fit.notes, 'the upstream of this model does not tell how likely its tokens are');
    return {};
  }
  if (isRewritten) {
    dropVendorFields(asked, fit.notes, 'the gateway changes the text of this reply, and the tokens would be those of another text');
    return {};
  }
  if (alternatives === undefined) return { logprobs: true };
  const count = Math.min(alternatives, alternativesMax);
  const path = fields.at(-1);
  if (count < alternatives) fit.notes.adapted({ path, otherwise: 'turns' }, `the upstream tells at most ${alternativesMax}`);
  return { logprobs: true, top_logprobs: count };
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
