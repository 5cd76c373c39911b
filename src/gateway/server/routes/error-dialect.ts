import { chatDialects } from '../../../dialects/registry.ts';
import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import { audioErrorDialect, isAudioPath } from '../../endpoints/audio/audio-error-dialect.ts';
import { videoErrors } from '../../endpoints/videos/video-errors.ts';
import { isVideoPath } from '../../endpoints/videos/video-routes.ts';
import { dialectOfPath } from './route-table.ts';

/** The dialect whose errors a path answers with. */
export function errorDialectOf(path: string, headers: Readonly<Record<string, string | readonly string[] | undefined>>): ChatDialect {
  if (isAudioPath(path)) return audioErrorDialect;
  const dialect = chatDialects[dialectOfPath(path, headers)];
  return isVideoPath(path) ? videoErrors(dialect, path) : dialect;
}
