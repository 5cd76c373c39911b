/** Bounds the number of concurrent requests; further ones wait in line. */
export type RequestLimiter = {
  /**
   * Resolves when there is a free slot, with a function that releases it; calling it again does nothing. Rejects with
   * RequestLimiterFullError if the line is full, and with the reason of the signal if it aborts first.
   */
  readonly enter: (signal: AbortSignal) => Promise<() => void>;
};

export class RequestLimiterFullError extends Error {
  constructor() {
    super('Too many requests are waiting already.');
    this.name = 'RequestLimiterFullError';
  }
}

export function createRequestLimiter(limits: { readonly insideMax: number; readonly waitingMax: number }): RequestLimiter {
  const waiting = new Set<() => void>();
  let inside = 0;

  function createLeave(): () => void {
    inside += 1;
    let left = false;
    return () => {
      if (left) return;
      left = true;
      inside -= 1;
      const [next] = waiting;
      next?.();
    };
  }

  async function enter(signal: AbortSignal): Promise<() => void> {
    signal.throwIfAborted();
    if (inside < limits.insideMax) return createLeave();
    if (waiting.size >= limits.waitingMax) throw new RequestLimiterFullError();
    return await new Promise((resolve, reject) => {
      const stopWaiting = (): void => {
        waiting.delete(admit);
        signal.removeEventListener('abort', giveUp);
      };
      const admit = (): void => {
        stopWaiting();
        resolve(createLeave());
      };
      const giveUp = (): void => {
        stopWaiting();
        reject(signal.reason as Error);
      };
      waiting.add(admit);
      signal.addEventListener('abort', giveUp, { once: true });
    });
  }

  return { enter };
}
