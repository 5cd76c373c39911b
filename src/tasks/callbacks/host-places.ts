/** How many attempts are under way at each host. */
export type HostPlaces = {
  /** Takes a place at a host and returns what gives it back; or, where there is none, how many attempts' time to wait before another try. */
  readonly enter: (host: string) => (() => void) | number;
};

type Places = { taken: number; refused: number };

export function createHostPlaces(perHostMax: number): HostPlaces {
  const hosts = new Map<string, Places>();
  return {
    enter: (host) => {
      const places = hosts.get(host) ?? { taken: 0, refused: 0 };
      hosts.set(host, places);
      if (places.taken === perHostMax) {
        places.refused += 1;
        // Those that wait for a host that hangs come back one after the other, not all at each look.
        return Math.ceil(places.refused / perHostMax);
      }
      places.taken += 1;
      return () => {
        places.taken -= 1;
        if (places.taken === 0) hosts.delete(host);
        else places.refused = Math.max(0, places.refused - perHostMax);
      };
    },
  };
}
