/** How long a reply is read at most for which nobody waits, and how many of them at a time: they hold connections of upstreams. */
const drainMsMax = 30_000;
const drainsMax = 64;

/** The replies that are read on although their clients have left, because their upstreams bill them in any case. */
export class DrainSlots {
  readonly #ends = new Set<() => void>();
  readonly #limits: { readonly ms: number; readonly count: number };

  constructor(limits = { ms: drainMsMax, count: drainsMax }) {
    this.#limits = limits;
  }

  get taken(): number {
    return this.#ends.size;
  }

  /**
   * Takes a place.
   * @param end called once when the time is over, or the gateway ends; never after the place was given back
   * @returns what gives it back; undefined where none is free
   */
  take(end: () => void): (() => void) | undefined {
    if (this.#ends.size >= this.#limits.count) return undefined;
    const release = (): void => {
      clearTimeout(timer);
      this.#ends.delete(stop);
    };
    const stop = (): void => {
      release();
      end();
    };
    const timer = setTimeout(stop, this.#limits.ms).unref();
    this.#ends.add(stop);
    return release;
  }

  /** The gateway ends: whatever is read on is settled by what is known. */
  endAll(): void {
    for (const stop of this.#ends) stop();
  }
}
