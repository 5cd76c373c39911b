import { dropVendorFields } from './drop-vendor-fields.ts';
import type { InferenceRequest } from './inference-request.ts';
import type { ModelTraits } from './model-traits.ts';
import type { TranslationNotes } from './translation-notes.ts';

/** The request without the fields that ask for probabilities of tokens: `fitLogprobs` carries them, or names them as lost. */
export function withoutLogprobFields(request: InferenceRequest): InferenceRequest {
  const { tokenLogprobs, vendorFields } = request;
  if (tokenLogprobs === undefined) return request;
  return { ...request, vendorFields: vendorFields.filter(({ field }) => !tokenLogprobs.fields.includes(field)) };
}

/** Vendors of all dialects that tell probabilities take so many. */
const alternativesMax = 20;

/** What is asked for, with the number of alternatives; undefined where nothing is. */
type FittedLogprobs = { readonly alternatives?: number };

/**
 * Fits what a client asks of probabilities to an upstream, and names what is lost.
 * @param obstacle why the upstream cannot tell them, or not those of the text that the client gets
 */
export function fitLogprobs(
  { tokenLogprobs, vendorFields }: InferenceRequest,
  notes: TranslationNotes,
  obstacle: string | undefined,
): FittedLogprobs | undefined {
  if (tokenLogprobs === undefined) return undefined;
  const { alternatives, fields } = tokenLogprobs;
  if (obstacle !== undefined) {
    dropVendorFields(
      vendorFields.filter(({ field }) => fields.includes(field)),
      notes,
      obstacle,
    );
    return undefined;
  }
  if (alternatives === undefined) return {};
  const count = Math.min(alternatives, alternativesMax);
  if (count < alternatives) notes.adapted({ path: fields.at(-1), otherwise: 'turns' }, `the upstream tells at most ${alternativesMax}`);
  return { alternatives: count };
}

/** Why probabilities of a reply that the gateway changes are not told. */
export const rewrittenReply = 'the gateway changes the text of this reply, and the tokens would be those of another text';

/**
 * Why a model behind one of OpenAI's interfaces does not tell how likely the tokens are that the client gets; undefined where it does.
 * @param isRewritten whether the client gets another text than the one that the upstream writes
 */
export function findLogprobsObstacle({ fixedSampling, chat }: ModelTraits, isRewritten: boolean): string | undefined {
  if (fixedSampling || !chat.acceptsLogprobs) return 'the upstream of this model does not tell how likely its tokens are';
  return isRewritten ? rewrittenReply : undefined;
}
