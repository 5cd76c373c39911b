import type { Clock } from '../clock.ts';

/** Something that may be overdue. `check` is called several times a second and acts by itself when one of its limits has passed. */
export type Watched = { readonly check: (nowMs: number) => void };

export type Deadlines = {
  readonly watch: (watched: Watched) => void;
  readonly unwatch: (watched: Watched) => void;
  readonly close: () => void;
};

/**
 * One timer for all running calls. A timer per call and per wait would cost more than the waits; a limit here may be late by one tick.
 * @param tickMs time between two checks
 */
export function createDeadlines(options: { readonly clock: Clock; readonly tickMs: number }): Deadlines {
  const all = new Set<Watched>();
  const timer = setInterval(() => {
    const nowMs = options.clock.monotonicMs();
    for (const watched of all) watched.check(nowMs);
  }, options.tickMs);
  timer.unref();
  return {
    watch: (watched) => void all.add(watched),
    unwatch: (watched) => void all.delete(watched),
    close: () => clearInterval(timer),
  };
}
