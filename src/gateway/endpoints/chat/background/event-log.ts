/** Events that a follower finds in memory. */
export type LoggedEvents = { readonly events: readonly string[]; readonly ended: boolean };

/** Stored events stay in memory up to this size, for live followers. */
const cachedBytesMax = 1024 * 1024;

/**
 * The events of one running response, numbered from 0 without gaps: those that are not stored yet, and before them as
 * many as fit into the limit, for live followers. Slower followers read the store.
 */
export class EventLog {
  #events: string[] = [];
  /** Number of the first event in memory. */
  #first = 0;
  /** Number of the first event that is not stored. */
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

  /** Events that are not stored, and the number of the first. */
  unstored(): { readonly first: number; readonly events: readonly string[] } {
    return { first: this.#stored, events: this.#events.slice(this.#stored - this.#first) };
  }

  /** Marks the next `count` events as stored. */
  markStored(count: number): void {
    for (const event of this.#events.slice(this.#stored - this.#first, this.#stored - this.#first + count))
      this.#unstoredBytes -= event.length;
    this.#stored += count;
    let dropped = 0;
    while (this.#bytes > cachedBytesMax && this.#first + dropped < this.#stored) {
      this.#bytes -= this.#events[dropped]?.length ?? 0;
      dropped += 1;
    }
    if (dropped === 0) return;
    this.#events = this.#events.slice(dropped);
    this.#first += dropped;
  }

  /** Marks the end: no event follows. */
  end(): void {
    this.#ended = true;
    this.#wake();
  }

  /** The events after a number. Undefined if some of them are only in the store. */
  after(sequence: number): LoggedEvents | undefined {
    if (sequence + 1 < this.#first) return undefined;
    return { events: this.#events.slice(sequence + 1 - this.#first), ended: this.#ended };
  }

  /** Resolves when an event or the end is added, when the signal aborts, or after `waitMs`. */
  changed(waitMs: number, signal: AbortSignal): Promise<void> {
    if (this.#ended || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const finish = (): void => {
        clearTimeout(timer);
        signal.removeEventListener('abort', finish);
        this.#waiting.delete(finish);
        resolve();
      };
      const timer = setTimeout(finish, waitMs);
      signal.addEventListener('abort', finish, { once: true });
      this.#waiting.add(finish);
    });
  }

  #wake(): void {
    // Each callback removes itself from the set, which does not disturb the iteration.
    for (const finish of this.#waiting) finish();
  }
}
