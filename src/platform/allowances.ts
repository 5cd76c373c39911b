import type { Clock } from './clock.ts';

/** The most names that are counted. A further one replaces the one that was seen longest ago. */
const countedMax = 10_000;

export type Allowances = {
  /** Whole seconds until the next request is allowed; 0 if it is allowed now. */
  readonly waitSeconds: (name: string) => number;
  /** Counts a request. */
  readonly take: (name: string) => void;
};

/** Rate limits by name: `perMinute` at once, and as many in every minute. */
export function createAllowances(perMinute: number, clock: Clock): Allowances {
  const msEach = 60_000 / perMinute;
  /** When the allowance of each name is complete again. */
  const fullAtMs = new Map<string, number>();
  return {
    waitSeconds: (name: string): number => {
      const behindMs = (fullAtMs.get(name) ?? -Infinity) - clock.monotonicMs();
      return behindMs <= 60_000 - msEach ? 0 : Math.ceil((behindMs - (60_000 - msEach)) / 1000);
    },
    take: (name: string): void => {
      keepRecent(fullAtMs, name, Math.max(fullAtMs.get(name) ?? -Infinity, clock.monotonicMs()) + msEach);
    },
  };
}

/** Sets a value, and forgets the one that was set longest ago if there are too many. */
export function keepRecent(map: Map<string, number>, name: string, value: number): void {
  map.delete(name);
  const [oldest] = map.keys();
  if (map.size >= countedMax && oldest !== undefined) map.delete(oldest);
  map.set(name, value);
}
