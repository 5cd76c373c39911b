/**
 * Waits for work that takes no signal itself, until the signal aborts. Rejects then with the signal's reason; what the work comes to later, a failure included, is
 * dropped. For work that has a limit of its own, or whose limit is the signal's.
 */
export async function untilAborted<Result>(work: Promise<Result>, signal: AbortSignal): Promise<Result> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  // An aborted signal tells nobody again.
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
