import { encodeOpenaiError } from '../../../dialects/encode-openai-error.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { chatDialects } from '../../../dialects/registry.ts';

/** Writes errors in the format of OpenAI's interfaces other than chat. */
export const moderationVoice: ErrorVoice = { ...chatDialects['openai-chat'].voice, encodeError: encodeOpenaiError };
