import type { Clock } from '../../../platform/clock.ts';
import type { Wait } from '../../task-parts.ts';

type Timer = { readonly atMs: number; readonly order: number; readonly fire: () => void; isOver: boolean };

/** Time that only tests advance, so that hours pass in milliseconds. */
export class VirtualTime implements Clock {
  #nowMs: number;
  #order = 0;
  #timers: Timer[] = [];

  constructor(startMs = 1_790_000_000_000) {
    this.#nowMs = startMs;
  }

  readonly nowMs = (): number => this.#nowMs;
  readonly monotonicMs = (): number => this.#nowMs;

  readonly wait: Wait = (ms, signal) =>
    new Promise((resolve) => {
      if (signal.aborted) return resolve();
      const end = (): void => {
        timer.isOver = true;
        signal.removeEventListener('abort', end);
        resolve();
      };
      const timer: Timer = { atMs: this.#nowMs + Math.max(0, ms), order: this.#order++, fire: end, isOver: false };
      signal.addEventListener('abort', end, { once: true });
      this.#push(timer);
    });

  /** Advances time timer by timer. The work that each timer starts runs until it waits. */
  async pass(ms: number): Promise<void> {
    const untilMs = this.#nowMs + ms;
    await turn();
    for (;;) {
      const next = this.#timers[0];
      if (next === undefined || next.atMs > untilMs) break;
      this.#pop();
      if (next.isOver) continue;
      this.#nowMs = next.atMs;
      next.fire();
      // Timers of the same time fire together.
      if (this.#timers[0]?.atMs !== next.atMs) await turn();
    }
    this.#nowMs = untilMs;
  }

  /** Drops all timers. */
  clear(): void {
    this.#timers = [];
  }

  #isBefore(left: number, right: number): boolean {
    const [one, other] = [this.#timers[left], this.#timers[right]];
    if (one === undefined || other === undefined) return false;
    return one.atMs === other.atMs ? one.order < other.order : one.atMs < other.atMs;
  }

  #swap(left: number, right: number): void {
    const [one, other] = [this.#timers[left], this.#timers[right]];
    if (one === undefined || other === undefined) return;
    this.#timers[left] = other;
    this.#timers[right] = one;
  }

  #push(timer: Timer): void {
    let at = this.#timers.push(timer) - 1;
    while (at > 0 && this.#isBefore(at, (at - 1) >> 1)) {
      this.#swap(at, (at - 1) >> 1);
      at = (at - 1) >> 1;
    }
  }

  #pop(): void {
    const last = this.#timers.pop();
    if (last === undefined || this.#timers.length === 0) return;
    this.#timers[0] = last;
    for (let at = 0; ;) {
      let first = at;
      for (const child of [2 * at + 1, 2 * at + 2]) if (this.#isBefore(child, first)) first = child;
      if (first === at) return;
      this.#swap(at, first);
      at = first;
    }
  }
}

/** A turn of the event loop, after which all resolved promises have run. */
const turn = (): Promise<void> => new Promise((resolve) => void setImmediate(resolve));
