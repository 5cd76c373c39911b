import type { ChatDialect } from '../../../../dialects/chat-dialect.ts';
import { requestIdHeader } from '../../../replies/reply-headers.ts';
import type { ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';

/** The header that says who counted: the upstream's own counter, or an estimate of the gateway's. */
export const tokenCountHeader = 'x-weir-token-count';

/** Hands the count of an upstream's counter to a client of another dialect. */
export function createCountRelay(options: {
  readonly client: ChatDialect;
  readonly upstream: ChatDialect;
  readonly requestId: string;
  /** What is answered when the counter's answer holds no count. */
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
