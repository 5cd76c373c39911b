import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { encodeVideoError } from '../../../dialects/video-tasks/encode-video-error.ts';
import type { VideoForm } from '../../../inference/video.ts';

/** xAI's interface has its own shape of errors; its questions for a task come to a path that all forms share. */
function formOfPath(path: string): VideoForm {
  return /^\/v1\/videos\/(?:generations|edits|extensions)\/?$/.test(path) ? 'xai-videos' : 'video-generations';
}

/** The same voice with errors as the video interface of a path words them. */
export function videoVoice(voice: ErrorVoice, path: string): ErrorVoice {
  return { ...voice, encodeError: (error, requestId) => encodeVideoError(error, requestId, formOfPath(path)) };
}
