import { setTimeout as sleep } from 'node:timers/promises';

import type { Wait } from './task-parts.ts';

/** Waits by the timers of the process. It does not keep the process alive. */
export const waitByTimer: Wait = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal, ref: false });
  } catch {
    // The signal was aborted: the wait is over.
  }
};

/** Some work took longer than it may. */
export class WorkTimeoutError extends Error {
  constructor(ms: number) {
    super(`It took longer than ${ms} ms.`);
    this.name = 'WorkTimeoutError';
  }
}

/**
 * Does some work for at most so long. Its signal aborts at that time and together with the outer one; work that does not listen is left behind.
 * @throws WorkTimeoutError, the outer signal's reason, and whatever the work throws
 */
export async function withinTime<Result>(
  wait: Wait,
  limits: { readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  limits.signal.throwIfAborted();
  const inner = new AbortController();
  const ended = new AbortController();
  const stop = (): void => inner.abort(limits.signal.reason);
  limits.signal.addEventListener('abort', stop, { once: true });
  void wait(limits.ms, ended.signal).then(() => {
    if (!ended.signal.aborted) inner.abort(new WorkTimeoutError(limits.ms));
  });
  try {
    return await untilAborted(inner.signal, work(inner.signal));
  } finally {
    // With a reason of its own, because the default one is an error with its stack.
    ended.abort('ended');
    limits.signal.removeEventListener('abort', stop);
  }
}

/** What some work comes to, or the reason of the signal when that aborts first; then what the work comes to is dropped. */
export async function untilAborted<Result>(signal: AbortSignal, work: Promise<Result>): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([work, aborted.promise]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
