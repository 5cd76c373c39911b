import { dropVendorFields } from './drop-vendor-fields.ts';
import type { InferenceRequest } from './inference-request.ts';
import type { ModelTraits } from './model-traits.ts';
import type { TranslationNotes } from './translation-notes.ts';

/**
 * The request without the fields that ask for probabilities of tokens. `fitLogprobs` carries them, or notes that they
 * are lost.
 */
export function withoutLogprobFields(request: InferenceRequest): InferenceRequest {
  const { tokenLogprobs, vendorFields } = request;
  if (tokenLogprobs === undefined) return request;
  return { ...request, vendorFields: vendorFields.filter(({ field }) => !tokenLogprobs.fields.includes(field)) };
}

/** The maximum of vendors in all dialects that report probabilities. */
const alternativesMax = 20;

/** The requested probabilities, with the number of alternatives. Undefined: none are requested. */
type FittedLogprobs = { readonly alternatives?: number };

/**
 * Fits the requested probabilities to an upstream, and notes what is lost.
 * @param obstacle why the upstream cannot report them, or not for the text that the client receives
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
  if (count < alternatives)
    notes.adapted({ path: fields.at(-1), otherwise: 'turns' }, `the upstream reports at most ${alternativesMax} alternatives`);
  return { alternatives: count };
}

/** The reason why no probabilities are sent if the gateway changes the reply. */
export const rewrittenReply = 'the gateway changes the text of this reply, and the tokens would be those of another text';

/**
 * Finds the reason why a model behind one of OpenAI's interfaces does not report the probabilities of the client's
 * tokens. Undefined if it reports them.
 * @param isRewritten whether the client receives another text than the upstream writes
 */
export function findLogprobsObstacle({ fixedSampling, chat }: ModelTraits, isRewritten: boolean): string | undefined {
  if (fixedSampling || !chat.acceptsLogprobs) return 'the upstream of this model does not report probabilities of tokens';
  return isRewritten ? rewrittenReply : undefined;
}
