/**
 * Waits for work that does not accept a signal, until the signal aborts. Then it rejects with the signal's reason, and
 * a later result of the work, also an error, is dropped. For work that has its own limit, or whose limit is the
 * signal's.
 */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  // An aborted signal emits no further event.
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
