/** Hands out a bounded number of places, in the order in which they are asked for. */
export type ConcurrencyLimiter = {
  /** Resolves when there is a place, which is to be given back. */
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
 * Reads of files under way in this process. All that are done in one turn of the event loop are handed to their sockets in it: with hundreds of downloads that would be a
 * hundred megabytes, and nothing else would have its turn for as long. The runtime itself reads only four at a time.
 */
export const fileReadLimiter = createConcurrencyLimiter(8);
