import type { CoolingSettings } from './health-settings.ts';
import type { ProbingAttempt } from './outage.ts';

/** A rate limit that was met: for some time others are preferred. A burst that was sent before the limit was known counts as one. */
export class Cooling {
  readonly #settings: CoolingSettings;
  #untilMs = -Infinity;
  #inARow = 0;
  /** The last attempt that was sent before it began. */
  #begunAfter = 0;

  constructor(settings: CoolingSettings) {
    this.#settings = settings;
  }

  /** Milliseconds that are left; 0 for none. */
  waitMs(nowMs: number): number {
    return nowMs >= this.#untilMs ? 0 : this.#untilMs - nowMs;
  }

  /**
   * An attempt was refused.
   * @param retryAfterMs what the vendor says; undefined where it says nothing
   * @param lastNumber of the attempts that were sent so far
   */
  limited(attempt: ProbingAttempt, retryAfterMs: number | undefined, nowMs: number, lastNumber: number): void {
    const { firstMs, mostMs, namedLeastMs, namedMostMs, forgetMs } = this.#settings;
    if (nowMs - this.#untilMs > forgetMs) this.#inARow = 0;
    const isNews = this.#inARow === 0 || attempt.number > this.#begunAfter;
    if (isNews) {
      this.#inARow += 1;
      this.#begunAfter = lastNumber;
    }
    if (retryAfterMs !== undefined) {
      this.#untilMs = Math.max(this.#untilMs, nowMs + Math.min(namedMostMs, Math.max(namedLeastMs, retryAfterMs)));
    } else if (isNews) {
      this.#untilMs = Math.max(this.#untilMs, nowMs + Math.min(mostMs, firstMs * 2 ** Math.min(this.#inARow - 1, 30)));
    }
  }

  /** An attempt was answered: one that was sent after the limit was met is the end of it. */
  answered(attempt: ProbingAttempt): void {
    if (this.#inARow === 0 || attempt.number <= this.#begunAfter) return;
    this.#inARow = 0;
    this.#untilMs = -Infinity;
  }
}
