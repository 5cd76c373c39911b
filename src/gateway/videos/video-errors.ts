import type { ChatDialect } from '../../dialects/chat-dialect.ts';
import { encodeVideoError } from '../../dialects/video-tasks/encode-video-error.ts';

/** The same dialect with errors as video interfaces word them: what reads OpenAI's errors and what reads a code and a message at the top both find them. */
export function videoErrors(dialect: ChatDialect): ChatDialect {
  return { ...dialect, encodeError: encodeVideoError };
}
