import { chatDialects } from '../../dialects/registry.ts';
import type { ErrorVoice } from '../../dialects/error-voice.ts';
import { audioVoice, isAudioPath } from './audio/audio-voice.ts';
import { isVideoPath } from './videos/video-routes.ts';
import { videoVoice } from './videos/video-voice.ts';
import { dialectOfPath } from './chat/dialect-of-path.ts';

/** How the errors of a path are worded. */
export function voiceOfPath(path: string, headers: Readonly<Record<string, string | readonly string[] | undefined>>): ErrorVoice {
  if (isAudioPath(path)) return audioVoice;
  const { voice } = chatDialects[dialectOfPath(path, headers)];
  return isVideoPath(path) ? videoVoice(voice, path) : voice;
}
