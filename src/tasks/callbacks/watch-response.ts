import type { Clock } from '../../platform/clock.ts';
import type { Callbacks } from './create-callbacks.ts';
import type { CallbackSenderOptions } from './create-callback-sender.ts';

const lookAgainMs = 15_000;
/** A watch begins before its response is stored, so it waits for this time. */
const beginMs = 60_000;

/**
 * Watches background responses with a callback. The process that generates a response reports its end, but it may die
 * before that, or another process may end the response. The watch then reports the stored end.
 * @param findStatus status of a stored response; undefined if there is none
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
    // A response that was deleted before its end needs no event.
    else if (clock.nowMs() < createdAtMs + beginMs) return clock.nowMs() + lookAgainMs;
    return undefined;
  };
}
