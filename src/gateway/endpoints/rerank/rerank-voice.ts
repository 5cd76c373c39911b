import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { encodeRerankError } from '../../../dialects/rerank/encode-rerank-error.ts';
import type { RerankForm } from '../../../dialects/rerank/rerank-form.ts';

/** Writes errors in the format of the vendor whose spelling the client uses. */
export function rerankVoice(form: RerankForm): ErrorVoice {
  return { ...chatDialects['openai-chat'].voice, encodeError: (error, requestId) => encodeRerankError(error, form, requestId) };
}
