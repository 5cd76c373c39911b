/** Hands out a bounded number of slots, first come, first served. */
export type ConcurrencyLimiter = {
  /** Resolves when a slot is free. The caller must release it. */
  readonly acquire: () => Promise<void>;
  readonly release: () => void;
};

export function createConcurrencyLimiter(count: number): ConcurrencyLimiter {
  let free = count;
  const waiting: (() => void)[] = [];
  return {
    acquire: () => {
      if (free > 0) {
        free -= 1;
        return Promise.resolve();
      }
      return new Promise((resolve) => void waiting.push(resolve));
    },
    release: () => {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    },
  };
}

/**
 * Bounds the reads of files of this process. All reads that finish in one turn of the event loop write to their sockets
 * in that turn: with hundreds of downloads that would be a hundred megabytes and a blocked event loop. The runtime
 * itself reads only four files at a time.
 */
export const fileReadLimiter = createConcurrencyLimiter(8);
