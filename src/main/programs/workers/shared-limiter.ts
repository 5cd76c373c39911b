import type { SharedLimiter } from '../../../gateway/admission/limits/limiter.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Ipc } from './ipc.ts';
import type { PrimaryTopics } from './protocol.ts';

/** The limit of a request to the primary. */
const answerMsMax = 1000;

/**
 * The limiter of a worker. It asks the shared limiter of all workers, so that limits apply to all together. Calls
 * without limits do not use it. Without an answer, a call with limits is refused as `accounts_unavailable` (503),
 * because a share for each worker would refuse calls within their limit, or accept too many.
 */
export function createSharedLimiter({ primary }: { readonly primary: Pick<Ipc<PrimaryTopics>, 'ask' | 'tell'> }): SharedLimiter {
  let lastId = 0;
  return {
    use: (owners) => primary.ask('limit-use', owners, answerMsMax),
    reserve: async (subjects, tokens) => {
      const id = (lastId += 1);
      let ended = false;
      const end = (used: number | 'unknown' | 'given-back'): void => {
        if (ended) return;
        ended = true;
        primary.tell('end-reservation', { id, used });
      };
      try {
        const answer = await primary.ask('reserve', { id, subjects, tokens }, answerMsMax);
        if (!answer.admitted) return { ...answer, waitMs: answer.waitMs ?? Infinity };
        return {
          admitted: true,
          state: answer.state,
          settle: (used) => end(used),
          release: () => end('given-back'),
          finish: () => end('unknown'),
        };
      } catch (cause) {
        // It may have been granted nevertheless. Messages keep their order, so this one comes after it.
        end('given-back');
        throw new GatewayError('accounts_unavailable', 'limits cannot be checked at the moment; try again', {
          retryAfterSeconds: 1,
          cause,
        });
      }
    },
  };
}
