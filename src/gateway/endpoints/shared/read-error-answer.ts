import type { UpstreamDialect } from '../../../dialects/chat-dialect.ts';
import type { UpstreamDialectId } from '../../../dialects/dialect-id.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { ReplyRelay } from '../../attempts/exchange/reply-relay.ts';
import type { Target } from '../../attempts/routing/target.ts';

/** Creates a reader of the error answers of upstreams with a dialect. */
export function createErrorReader({ codec }: Pick<UpstreamDialect, 'codec'>): ReplyRelay['readError'] {
  return ({ status, headers, body }) => {
    const seconds = Number(headers['retry-after'] ?? Number.NaN);
    return codec.decodeError({ status, body, ...(Number.isFinite(seconds) && { retryAfterSeconds: Math.ceil(seconds) }) });
  };
}

/** The reader of refusals that the vendor of a target words in a form of its own; nothing for other vendors. */
export function readRefusalOf({ upstream, upstreamModel }: Target, dialect: UpstreamDialectId): Pick<ReplyRelay, 'readRefusal'> {
  const { readRefusal } = upstream.vendor;
  return readRefusal === undefined ? {} : { readRefusal: (answer) => readRefusal({ ...answer, model: upstreamModel }, dialect) };
}

/** Reads the error format of OpenAI and of servers that imitate it. */
export const readErrorAnswer = createErrorReader(chatDialects['openai-chat']);
