import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { encodeVideoError } from '../../../dialects/video-tasks/encode-video-error.ts';
import type { VideoForm } from '../../../inference/video.ts';

/** xAI's interface has its own form of errors. All forms share the path of a task. */
function formOfPath(path: string): VideoForm {
  return /^\/v1\/videos\/(?:generations|edits|extensions)\/?$/.test(path) ? 'xai-videos' : 'video-generations';
}

/** The voice with the error format of the video interface of a path. */
export function videoVoice(voice: ErrorVoice, path: string): ErrorVoice {
  return { ...voice, encodeError: (error, requestId) => encodeVideoError(error, requestId, formOfPath(path)) };
}
