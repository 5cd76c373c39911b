import type { Clock } from '../clock.ts';
import { createSlotList } from '../slot-list.ts';

/** An item with deadlines. `check` is called several times a second, and acts when one of them has passed. */
export type DeadlineCheck = { readonly check: (nowMs: number) => void };

/** Time between two checks of a running call. */
export const checkIntervalMs = 100;

export type Deadlines<Item extends DeadlineCheck> = {
  /** Begins to watch an item. Returns the slot for `unwatch`. */
  readonly watch: (item: Item) => number;
  readonly unwatch: (slot: number) => void;
  /** The number of watched items. */
  readonly size: () => number;
  /** Calls `visit` for every watched item. */
  readonly forEach: (visit: (item: Item) => void) => void;
  readonly close: () => void;
};

/**
 * One timer for all running calls, because a timer for each wait would cost more than the wait. A limit may be late by
 * one tick. Without calls there is no timer, so that an idle process is not woken.
 * @param tickMs time between two checks
 */
export function createDeadlines<Item extends DeadlineCheck>(options: { readonly clock: Clock; readonly tickMs: number }): Deadlines<Item> {
  const all = createSlotList<Item>();
  let timer: NodeJS.Timeout | undefined;
  const close = (): void => {
    clearInterval(timer);
    timer = undefined;
  };
  const tick = (): void => {
    if (all.size() === 0) return close();
    const nowMs = options.clock.monotonicMs();
    all.forEach((item) => item.check(nowMs));
  };
  return {
    watch: (item) => {
      timer ??= setInterval(tick, options.tickMs).unref();
      return all.add(item);
    },
    unwatch: all.remove,
    size: all.size,
    forEach: all.forEach,
    close,
  };
}
