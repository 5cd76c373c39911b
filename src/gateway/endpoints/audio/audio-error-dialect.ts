import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import { encodeAudioError } from '../../../dialects/openai-audio/audio-errors.ts';
import { chatDialects } from '../../../dialects/registry.ts';

/** Words errors below /v1/audio, where all members are strings. Nothing else of a chat is asked of it. */
export const audioErrorDialect: ChatDialect = {
  ...chatDialects['openai-chat'],
  encodeError: (error, requestId) => encodeAudioError(error, requestId),
};

/** Whether a path is one of the audio interface, also where there is no route. */
export function isAudioPath(path: string): boolean {
  return /^\/v1\/audio(?:\/|$)/.test(path);
}
