import type { SuspicionSettings } from './health-settings.ts';

/** How fast the mean and the deviation follow, as in the round-trip times of TCP (RFC 6298). */
const meanGain = 1 / 8;
const deviationGain = 1 / 4;

/**
 * Notices that an upstream has gone silent, long before any time limit: attempts wait for their status lines and none has come for much longer than
 * usual. No list is kept. Every head that comes begins a new epoch and acquits those who waited; who is sent in an epoch is counted
 * until it ends or the epoch does.
 */
export class WaitWatch {
  readonly #settings: SuspicionSettings;
  #epoch = 0;
  #waiting = 0;
  /** Since when somebody of this epoch has been waiting without a break. */
  #sinceMs = 0;
  #meanMs = -1;
  #deviationMs = 0;

  constructor(settings: SuspicionSettings) {
    this.#settings = settings;
  }

  /** An attempt is sent. @returns its epoch, for `leave` */
  enter(nowMs: number): number {
    if (this.#waiting === 0) this.#sinceMs = nowMs;
    this.#waiting += 1;
    return this.#epoch;
  }

  /** An attempt ended without a head. */
  leave(epoch: number): void {
    if (epoch === this.#epoch) this.#waiting -= 1;
  }

  headArrived(): void {
    this.#epoch += 1;
    this.#waiting = 0;
  }

  /** The time to the head of an attempt that went well: an error comes faster than an answer and says nothing of the usual time. */
  learn(headMs: number): void {
    if (this.#meanMs < 0) {
      this.#meanMs = headMs;
      this.#deviationMs = headMs / 2;
      return;
    }
    const off = headMs - this.#meanMs;
    this.#meanMs += off * meanGain;
    this.#deviationMs += (Math.abs(off) - this.#deviationMs) * deviationGain;
  }

  isSuspect(nowMs: number): boolean {
    return this.#waiting >= this.#settings.waitingMin && nowMs - this.#sinceMs > this.#patienceMs();
  }

  #patienceMs(): number {
    const { leastMs, usualTimes, unknownMs } = this.#settings;
    return this.#meanMs < 0 ? unknownMs : Math.max(leastMs, usualTimes * (this.#meanMs + this.#deviationMs));
  }
}
