import type { ChatDialect } from '../../../dialects/chat-dialect.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';

/** Reads the error answers of upstreams that speak a dialect, to be worded anew. */
export function createErrorReader({ codec }: Pick<ChatDialect, 'codec'>): ReplyRelay['readError'] {
  return ({ status, headers, body }) => {
    const seconds = Number(headers['retry-after'] ?? Number.NaN);
    return codec.decodeError({ status, body, ...(Number.isFinite(seconds) && { retryAfterSeconds: Math.ceil(seconds) }) });
  };
}

/** The shapes of OpenAI and of those who imitate it. */
export const readErrorAnswer = createErrorReader(chatDialects['openai-chat']);
