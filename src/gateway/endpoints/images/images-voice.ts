import { encodeOpenaiError, encodeOpenaiStreamError } from '../../../dialects/encode-openai-error.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { chatDialects } from '../../../dialects/registry.ts';

/** Writes errors below /v1/images. */
export const imagesVoice: ErrorVoice = {
  ...chatDialects['openai-chat'].voice,
  encodeError: (error, requestId) => encodeOpenaiError(error, requestId),
  encodeStreamError: (error) => encodeOpenaiStreamError(error),
};
