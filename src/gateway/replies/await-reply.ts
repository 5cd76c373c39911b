import { GatewayError } from '../../inference/gateway-error.ts';
import type { ClientReply } from './client-reply.ts';
import { EventReply, type WholeAnswer } from './event-reply.ts';

/**
 * Makes a call of the gateway's own and resolves with its whole reply, whatever its status. Rejects as the call does, or with GatewayError when the signal aborts or
 * the call gives its reply up.
 * @param call makes the call, which writes its reply
 */
export async function awaitReply(signal: AbortSignal, call: (reply: ClientReply) => Promise<void>): Promise<WholeAnswer> {
  const { promise, resolve, reject } = Promise.withResolvers<WholeAnswer>();
  const giveUp = (): void => reject(new GatewayError('request_timeout', 'the call was given up before its reply came'));
  const reply = new EventReply({ event: () => {}, whole: resolve, ended: () => reply.finish(), isFull: () => false, destroyed: giveUp });
  const leave = (): void => {
    reply.leave();
    giveUp();
  };
  signal.addEventListener('abort', leave, { once: true });
  if (signal.aborted) leave();
  try {
    const [answer] = await Promise.all([promise, call(reply)]);
    return answer;
  } finally {
    signal.removeEventListener('abort', leave);
  }
}
