import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import { requestIdHeader } from '../../../replies/write-reply.ts';
import type { ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';

/** The header that says whether the upstream counted or the gateway estimated. */
export const tokenCountHeader = 'x-weir-token-count';

/** Translates the answer of an upstream's counter for a client of another dialect. */
export function createCountRelay(options: {
  readonly client: ChatDialect;
  readonly upstream: ChatDialect;
  readonly requestId: string;
  /** The answer if the upstream's counter sends no count. */
  readonly estimate: number;
}): ReplyRelay<never> {
  const { client, upstream, requestId, estimate } = options;
  return {
    upstreamFraming: undefined,
    replyHeaders: () => ({
      'content-type': 'application/json; charset=utf-8',
      [requestIdHeader]: requestId,
      [tokenCountHeader]: 'upstream',
    }),
    readReply: () => ({ outputCharacters: 0 }),
    writeReply: (reply) => Buffer.from(JSON.stringify(client.codec.encodeCount?.(upstream.codec.decodeCount?.(reply) ?? estimate))),
    openStream: () => {
      throw new Error('a count is never streamed');
    },
    readError: ({ status, body }) => upstream.codec.decodeError({ status, body }),
  };
}
