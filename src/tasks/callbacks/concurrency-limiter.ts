/** Limits concurrent attempts for each name, such as a host or a user. */
export type ConcurrencyLimiter = {
  /**
   * Takes a slot and returns the function that releases it. If none is free, returns how many attempts' time to wait
   * before a retry.
   */
  readonly enter: (name: string) => (() => void) | number;
};

type Slots = { taken: number; refused: number };

/** @param max slots of each name */
export function createConcurrencyLimiter(max: number): ConcurrencyLimiter {
  const all = new Map<string, Slots>();
  return {
    enter: (name) => {
      const places = all.get(name) ?? { taken: 0, refused: 0 };
      all.set(name, places);
      if (places.taken === max) {
        places.refused += 1;
        // Waiting deliveries retry one after the other, not all in each round.
        return Math.ceil(places.refused / max);
      }
      places.taken += 1;
      return () => {
        places.taken -= 1;
        if (places.taken === 0) all.delete(name);
        else places.refused = Math.max(0, places.refused - max);
      };
    },
  };
}
