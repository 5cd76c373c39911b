import type { UpstreamDialect } from '../../../dialects/chat-dialect.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';

/** Creates a reader of the error answers of upstreams with a dialect. */
export function createErrorReader({ codec }: Pick<UpstreamDialect, 'codec'>): ReplyRelay['readError'] {
  return ({ status, headers, body }) => {
    const seconds = Number(headers['retry-after'] ?? Number.NaN);
    return codec.decodeError({ status, body, ...(Number.isFinite(seconds) && { retryAfterSeconds: Math.ceil(seconds) }) });
  };
}

/** Reads the error format of OpenAI and of servers that imitate it. */
export const readErrorAnswer = createErrorReader(chatDialects['openai-chat']);
