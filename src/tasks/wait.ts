import { setTimeout as sleep } from 'node:timers/promises';

import type { Wait } from './task-parts.ts';

/** Waits with the timers of the process, without keeping it alive. */
export const waitByTimer: Wait = async (ms, signal) => {
  try {
    await sleep(ms, undefined, { signal, ref: false });
  } catch {
    // The signal was aborted: the wait is over.
  }
};

/** Work exceeded its time limit. */
export class WorkTimeoutError extends Error {
  constructor(ms: number) {
    super(`It took longer than ${ms} ms.`);
    this.name = 'WorkTimeoutError';
  }
}

/**
 * Limits work to `ms` milliseconds. Its signal aborts at that time, and with the outer signal. Work that ignores the
 * signal is abandoned.
 * @throws WorkTimeoutError, the outer signal's reason, and errors of the work
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
    // An explicit reason, because the default reason is an error with a stack.
    ended.abort('ended');
    limits.signal.removeEventListener('abort', stop);
  }
}

/** The result of the work, or the reason of the signal if that aborts first; then the result is dropped. */
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
