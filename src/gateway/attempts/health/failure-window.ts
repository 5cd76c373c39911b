const buckets = 10;
/** Attempts leave the window of 30 seconds a bucket at a time. */
const bucketMs = 3000;

/**
 * Attempts and failures of the last 30 seconds, in memory of fixed size. An attempt is counted when it is sent and a failure when it is known, however
 * long that took: an upstream that fails slowly is seen both by its attempts and by its failures (zeromicro/go-zero#5011).
 */
export class FailureWindow {
  /** Attempts of each bucket, then failures of each. */
  readonly #counts = new Uint32Array(2 * buckets);
  #bucket = 0;
  #attempts = 0;
  #failures = 0;

  /** @returns the bucket, for `takeBack` */
  addAttempt(nowMs: number): number {
    const bucket = this.#advance(nowMs);
    this.#add(bucket % buckets, 1);
    this.#attempts += 1;
    return bucket;
  }

  addFailure(nowMs: number): void {
    this.#add(buckets + (this.#advance(nowMs) % buckets), 1);
    this.#failures += 1;
  }

  /** An attempt that says nothing was never made. */
  takeBack(bucket: number, nowMs: number): void {
    if (this.#advance(nowMs) - bucket >= buckets) return;
    const at = bucket % buckets;
    if (this.#counts[at] === 0) return;
    this.#add(at, -1);
    this.#attempts -= 1;
  }

  /** Forgets what is older than the window. */
  advance(nowMs: number): void {
    this.#advance(nowMs);
  }

  get attempts(): number {
    return Math.max(this.#attempts, this.#failures);
  }

  get failures(): number {
    return this.#failures;
  }

  clear(): void {
    this.#counts.fill(0);
    this.#attempts = 0;
    this.#failures = 0;
  }

  #add(at: number, count: number): void {
    this.#counts[at] = (this.#counts[at] ?? 0) + count;
  }

  /** Empties the buckets that were left behind since the last word. */
  #advance(nowMs: number): number {
    const bucket = Math.floor(nowMs / bucketMs);
    const first = Math.max(this.#bucket + 1, bucket - buckets + 1);
    for (let passed = first; passed <= bucket; passed += 1) {
      const at = passed % buckets;
      this.#attempts -= this.#counts[at] ?? 0;
      this.#failures -= this.#counts[buckets + at] ?? 0;
      this.#counts[at] = 0;
      this.#counts[buckets + at] = 0;
    }
    if (bucket > this.#bucket) this.#bucket = bucket;
    return this.#bucket;
  }
}
