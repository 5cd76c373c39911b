/**
 * Waits for a promise for at most `timeoutMs`, and no longer than until the signal aborts. Rejects with an error named TimeoutError, or with
 * the signal's reason; what the promise does later is then of no account.
 */
export async function waitFor<Result>(promise: Promise<Result>, timeoutMs: number, signal?: AbortSignal): Promise<Result> {
  const ended = Promise.withResolvers<never>();
  const onAbort = (): void => ended.reject(signal?.reason);
  const timer = setTimeout(() => ended.reject(new DOMException(`No answer within ${timeoutMs} ms.`, 'TimeoutError')), timeoutMs);
  signal?.addEventListener('abort', onAbort, { once: true });
  // The promise is raced all the same, so that its own failure never goes unhandled.
  if (signal?.aborted === true) onAbort();
  try {
    return await Promise.race([promise, ended.promise]);
  } finally {
    clearTimeout(timer);
    signal?.removeEventListener('abort', onAbort);
  }
}
