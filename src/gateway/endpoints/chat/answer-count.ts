import { requestIdHeader, writeReply } from '../../replies/write-reply.ts';
import type { IncomingCall } from './incoming-call.ts';
import { tokenCountHeader } from './translate/count-relay.ts';

/** Answers a token count that no upstream can make. */
export function answerCount({ dialect, response, callId }: IncomingCall, inputTokens: number): void {
  const body = dialect.codec.encodeCount?.(inputTokens);
  if (body === undefined) throw new Error(`${dialect.id} has a route for counts and cannot encode one`);
  const headers = { 'content-type': 'application/json; charset=utf-8', [requestIdHeader]: callId, [tokenCountHeader]: 'estimate' };
  writeReply(response, 200, headers, Buffer.from(JSON.stringify(body)));
}
