import { encodeOpenaiError } from '../../../dialects/encode-openai-error.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { chatDialects } from '../../../dialects/registry.ts';

/** Words errors as OpenAI's interfaces do that are no chats. */
export const moderationVoice: ErrorVoice = { ...chatDialects['openai-chat'].voice, encodeError: encodeOpenaiError };
