import type { Clock } from '../../platform/clock.ts';
import type { Callbacks } from './create-callbacks.ts';
import type { CallbackSenderOptions } from './create-callback-sender.ts';

const lookAgainMs = 15_000;
/** A watch begins before its response is stored. */
const beginMs = 60_000;

/**
 * Looks after responses that are generated in the background and whose end somebody wants to hear of: the process that generates one tells its end, but it may die before that, or another process may end it. What
 * has ended then is told from what is stored.
 * @param findStatus status of a stored response; undefined where there is none
 */
export function createResponseWatch(options: {
  readonly callbacks: Pick<Callbacks, 'responseEnded'>;
  readonly findStatus: (userName: string, id: string) => Promise<string | undefined>;
  readonly clock: Clock;
}): NonNullable<CallbackSenderOptions['watch']> {
  const { callbacks, findStatus, clock } = options;
  return async ({ userName, subject: id, createdAtMs }, url) => {
    const status = await findStatus(userName, id);
    if (status === 'queued' || status === 'in_progress') return clock.nowMs() + lookAgainMs;
    if (status !== undefined) await callbacks.responseEnded({ userName, id, url, status });
    // One that is deleted before its end is nobody's any more.
    else if (clock.nowMs() < createdAtMs + beginMs) return clock.nowMs() + lookAgainMs;
    return undefined;
  };
}
