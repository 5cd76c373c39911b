import type { Clock } from '../clock.ts';
import { createSlotList } from '../slot-list.ts';

/** Something that may be overdue. `check` is called several times a second and acts by itself when one of its limits has passed. */
export type DeadlineCheck = { readonly check: (nowMs: number) => void };

/** Time between two checks of a running call. */
export const checkIntervalMs = 100;

export type Deadlines<Item extends DeadlineCheck> = {
  /** Begins to watch, and returns what `unwatch` takes. */
  readonly watch: (item: Item) => number;
  readonly unwatch: (slot: number) => void;
  /** How many are being watched. */
  readonly size: () => number;
  /** Calls `visit` for everything that is being watched. */
  readonly forEach: (visit: (item: Item) => void) => void;
  readonly close: () => void;
};

/**
 * One timer for all running calls. A timer per call and per wait would cost more than the waits; a limit here may be late by one tick.
 * @param tickMs time between two checks
 */
export function createDeadlines<Item extends DeadlineCheck>(options: { readonly clock: Clock; readonly tickMs: number }): Deadlines<Item> {
  const all = createSlotList<Item>();
  const timer = setInterval(() => {
    const nowMs = options.clock.monotonicMs();
    all.forEach((item) => item.check(nowMs));
  }, options.tickMs);
  timer.unref();
  return {
    watch: all.add,
    unwatch: all.remove,
    size: all.size,
    forEach: all.forEach,
    close: () => clearInterval(timer),
  };
}
