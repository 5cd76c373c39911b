/** What a follower finds in memory. */
export type LoggedEvents = { readonly events: readonly string[]; readonly ended: boolean };

/** Events that are also in the store are kept in memory up to this size, for those who follow live. */
const keptBytesMax = 1024 * 1024;

/**
 * The events of one running response, numbered from 0 without gaps: those that are not in the store yet, and before them as many as may be kept for
 * whoever follows live. Who is further behind reads the store.
 */
export class EventLog {
  #events: string[] = [];
  /** Number of the first event that is kept. */
  #first = 0;
  /** Number of the first event that is not in the store. */
  #stored = 0;
  #bytes = 0;
  #unstoredBytes = 0;
  #ended = false;
  readonly #waiting = new Set<() => void>();

  /** The number of the next event. */
  get next(): number {
    return this.#first + this.#events.length;
  }

  get unstoredBytes(): number {
    return this.#unstoredBytes;
  }

  add(event: string): void {
    this.#events.push(event);
    this.#bytes += event.length;
    this.#unstoredBytes += event.length;
    this.#wake();
  }

  /** Events that the store does not have, and the number of the first. */
  unstored(): { readonly first: number; readonly events: readonly string[] } {
    return { first: this.#stored, events: this.#events.slice(this.#stored - this.#first) };
  }

  /** The store has the next `count` events. */
  markStored(count: number): void {
    for (const event of this.#events.slice(this.#stored - this.#first, this.#stored - this.#first + count))
      this.#unstoredBytes -= event.length;
    this.#stored += count;
    let dropped = 0;
    while (this.#bytes > keptBytesMax && this.#first + dropped < this.#stored) {
      this.#bytes -= this.#events[dropped]?.length ?? 0;
      dropped += 1;
    }
    if (dropped === 0) return;
    this.#events = this.#events.slice(dropped);
    this.#first += dropped;
  }

  /** No event follows. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** The events after a number; undefined where some of them are in the store alone. */
  after(sequence: number): LoggedEvents | undefined {
    if (sequence + 1 < this.#first) return undefined;
    return { events: this.#events.slice(sequence + 1 - this.#first), ended: this.#ended };
  }

  /** Resolves when there is something new, when the signal aborts, or after a time. */
  changed(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#ended || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const go = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', go);
        this.#waiting.delete(go);
        resolve();
      };
      const timer = setTimeout(go, waitMs);
      signal.addEventListener('abort', go, { once: true });
      this.#waiting.add(go);
    });
  }

  #wake(): void {
    // Each takes itself out of the set, which does not disturb going through it.
    for (const go of this.#waiting) go();
  }
}
