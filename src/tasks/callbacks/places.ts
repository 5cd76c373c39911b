/** How many attempts are under way for each of many: of each host, of each user. */
export type Places = {
  /** Takes a place and returns what gives it back; or, where there is none, how many attempts' time to wait before another try. */
  readonly enter: (name: string) => (() => void) | number;
};

type Taken = { taken: number; refused: number };

/** @param max places of each name */
export function createPlaces(max: number): Places {
  const all = new Map<string, Taken>();
  return {
    enter: (name) => {
      const places = all.get(name) ?? { taken: 0, refused: 0 };
      all.set(name, places);
      if (places.taken === max) {
        places.refused += 1;
        // Those that wait for what hangs come back one after the other, not all at each look.
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
