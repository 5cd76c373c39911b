/**
 * Waits for work that does not accept a signal, for at most `timeoutMs` and until the signal aborts. Rejects with an
 * error named TimeoutError, or with the signal's reason. A later result of the work, also an error, is dropped.
 */
export async function waitFor<Result>(work: Promise<Result>, timeoutMs: number, signal?: AbortSignal): Promise<Result> {
  const ended = Promise.withResolvers<never>();
  const giveUp = (): void => ended.reject(signal?.reason);
  // If this process had no processor, an answer may have arrived in time and not be read yet: this turn reads it first.
  const expire = (): void => ended.reject(new DOMException(`No answer within ${timeoutMs} ms.`, 'TimeoutError'));
  const timer = setTimeout(() => setImmediate(expire), timeoutMs);
  signal?.addEventListener('abort', giveUp, { once: true });
  // An aborted signal emits no further event. The work is raced all the same, so that its own error is never unhandled.
  if (signal?.aborted === true) giveUp();
  try {
    return await Promise.race([ended.promise, work]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', giveUp);
  }
}
