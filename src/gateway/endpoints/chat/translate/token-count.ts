import type { ChatDialect, UpstreamDialect } from '../../../../dialects/chat-dialect.ts';
import { requestIdHeader, writeReply } from '../../../replies/write-reply.ts';
import type { ReplyRelay } from '../../../attempts/exchange/reply-relay.ts';
import type { IncomingCall } from '../incoming-call.ts';

/** The header that says whether the upstream counted or the gateway estimated. */
const tokenCountHeader = 'x-weir-token-count';

/** Translates the answer of an upstream's counter for a client of another dialect. */
export function createCountRelay(options: {
  readonly client: ChatDialect;
  readonly upstream: UpstreamDialect;
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

/** Answers a token count that no upstream can make. */
export function answerCount({ dialect, response, callId }: IncomingCall, inputTokens: number): void {
  const body = dialect.codec.encodeCount?.(inputTokens);
  if (body === undefined) throw new Error(`${dialect.id} has a route for counts and cannot encode one`);
  const headers = { 'content-type': 'application/json; charset=utf-8', [requestIdHeader]: callId, [tokenCountHeader]: 'estimate' };
  writeReply(response, 200, headers, Buffer.from(JSON.stringify(body)));
}
