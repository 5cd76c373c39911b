/**
 * Waits for work that takes no signal itself, for at most `timeoutMs` and no longer than until the signal aborts. Rejects with an error named
 * TimeoutError, or with the signal's reason; what the work comes to later, a failure included, is then dropped.
 */
export async function waitFor<Result>(work: Promise<Result>, timeoutMs: number, signal?: AbortSignal): Promise<Result> {
  const ended = Promise.withResolvers<never>();
  const giveUp = (): void => ended.reject(signal?.reason);
  const timer = setTimeout(() => ended.reject(new DOMException(`No answer within ${timeoutMs} ms.`, 'TimeoutError')), timeoutMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  // An aborted signal tells nobody again. The work is raced all the same, so that its own failure never goes unhandled.
  if (signal?.aborted === true) giveUp();
  try {
    return await Promise.race([ended.promise, work]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
