/**
 * Waits for work, but no longer than until the signal aborts; then it rejects with the signal's reason and the work's result, or failure,
 * is dropped. For work that takes no signal itself.
 */
export async function waitFor<T>(work: Promise<T>, signal: AbortSignal): Promise<T> {
  const aborted = Promise.withResolvers<never>();
  const giveUp = (): void => aborted.reject(signal.reason);
  signal.addEventListener('abort', giveUp, { once: true });
  // An aborted signal tells nobody again. The work is raced all the same, so that its own failure never goes unhandled.
  if (signal.aborted) giveUp();
  try {
    return await Promise.race([aborted.promise, work]);
  } finally {
    signal.removeEventListener('abort', giveUp);
  }
}
