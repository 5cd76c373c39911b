import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { encodeAudioError, encodeAudioStreamError } from '../../../dialects/openai-audio/audio-errors.ts';
import { chatDialects } from '../../../dialects/registry.ts';

/** Writes errors below /v1/audio, where all members are strings. */
export const audioVoice: ErrorVoice = {
  ...chatDialects['openai-chat'].voice,
  encodeError: (error, requestId) => encodeAudioError(error, requestId),
  encodeStreamError: (error) => encodeAudioStreamError(error),
};
