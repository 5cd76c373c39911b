/** How long use counts. */
export const windowMs = 60_000;

const capacityMin = 16;

/**
 * The use of the last minute: calls and tokens, each from its time on. It is exact: use counts until 60 s later, and no
 * longer. Uses of one millisecond share an entry that counts from the last of them, so that a window has at most one
 * entry for each millisecond. Adding, expiring and correcting take the same time at any size. Times are monotonic
 * milliseconds and never go back.
 */
export class UsageWindow {
  /** Calls and tokens that count, as of the last `expire`. */
  requests = 0;
  tokens = 0;
  /** A ring of entries: sequence number `n` is at `n & mask`. */
  #times = new Float64Array(capacityMin);
  #requestsAt = new Float64Array(capacityMin);
  #tokensAt = new Float64Array(capacityMin);
  #first = 0;
  #end = 0;

  /** Forgets expired use. Call it before reading or adding. */
  expire(nowMs: number): void {
    const before = nowMs - windowMs;
    const mask = this.#times.length - 1;
    while (this.#first < this.#end) {
      const at = this.#first & mask;
      if ((this.#times[at] ?? 0) > before) return;
      this.requests -= this.#requestsAt[at] ?? 0;
      this.tokens -= this.#tokensAt[at] ?? 0;
      this.#first += 1;
    }
    // Sums of impossible figures are not exact. Their error must not outlive them.
    this.requests = 0;
    this.tokens = 0;
    if (this.#times.length > capacityMin) this.#resize(capacityMin);
  }

  isEmpty(): boolean {
    return this.#first === this.#end;
  }

  /**
   * Adds use from now on.
   * @returns the number by which it can be corrected
   */
  add(nowMs: number, requests: number, tokens: number): number {
    this.requests += requests;
    this.tokens += tokens;
    const last = (this.#end - 1) & (this.#times.length - 1);
    if (!this.isEmpty() && Math.floor(this.#times[last] ?? 0) === Math.floor(nowMs)) {
      this.#times[last] = nowMs;
      this.#requestsAt[last] = (this.#requestsAt[last] ?? 0) + requests;
      this.#tokensAt[last] = (this.#tokensAt[last] ?? 0) + tokens;
      return this.#end - 1;
    }
    if (this.#end - this.#first === this.#times.length) this.#resize(2 * this.#times.length);
    const at = this.#end & (this.#times.length - 1);
    this.#times[at] = nowMs;
    this.#requestsAt[at] = requests;
    this.#tokensAt[at] = tokens;
    this.#end += 1;
    return this.#end - 1;
  }

  /** Removes a part of an earlier `add`. Expired use stays as it was. */
  takeOff(entry: number, requests: number, tokens: number): void {
    if (entry < this.#first) return;
    const at = entry & (this.#times.length - 1);
    this.requests -= requests;
    this.tokens -= tokens;
    this.#requestsAt[at] = (this.#requestsAt[at] ?? 0) - requests;
    this.#tokensAt[at] = (this.#tokensAt[at] ?? 0) - tokens;
  }

  /** When this number of calls, or tokens, will have expired. At most the number that counts now. */
  freeAtMs(of: 'requests' | 'tokens', amount: number): number {
    const amounts = of === 'requests' ? this.#requestsAt : this.#tokensAt;
    const mask = this.#times.length - 1;
    let freed = 0;
    let entry = this.#first;
    while (entry < this.#end) {
      freed += amounts[entry & mask] ?? 0;
      if (freed >= amount) break;
      entry += 1;
    }
    return (this.#times[entry & mask] ?? 0) + windowMs;
  }

  /** When all present use will have expired. Undefined without use. */
  emptyAtMs(of: 'requests' | 'tokens'): number | undefined {
    const amounts = of === 'requests' ? this.#requestsAt : this.#tokensAt;
    const mask = this.#times.length - 1;
    for (let entry = this.#end - 1; entry >= this.#first; entry -= 1) {
      if ((amounts[entry & mask] ?? 0) > 0) return (this.#times[entry & mask] ?? 0) + windowMs;
    }
    return undefined;
  }

  #resize(capacity: number): void {
    const before = { times: this.#times, requestsAt: this.#requestsAt, tokensAt: this.#tokensAt };
    this.#times = new Float64Array(capacity);
    this.#requestsAt = new Float64Array(capacity);
    this.#tokensAt = new Float64Array(capacity);
    for (let entry = this.#first; entry < this.#end; entry += 1) {
      const from = entry & (before.times.length - 1);
      const to = entry & (capacity - 1);
      this.#times[to] = before.times[from] ?? 0;
      this.#requestsAt[to] = before.requestsAt[from] ?? 0;
      this.#tokensAt[to] = before.tokensAt[from] ?? 0;
    }
  }
}
