/** How long something is out, the first time and at most. Each time is moved by up to a fifth, so that gateways do not try together. */
export type OutagePacing = { readonly firstMs: number; readonly mostMs: number };

/** What an outage has to know of an attempt: its number, which grows with every attempt, and when it was sent. */
export type ProbingAttempt = { readonly number: number; readonly sentMs: number };

const jitter = 0.2;
/**
 * A probe that has been under way for so long no longer keeps the next one from being sent: it may hang for as long as the time limits of calls let it,
 * and an upstream has to be back within 40 s of its recovery.
 */
const probeHoldMs = 30_000;
/** What is said of the time to wait while a probe is under way, whose end nobody knows. */
const probeUnderWayMs = 1000;

/**
 * Something that was found not to work: others are preferred for a time, then it is tried by one attempt at a time until one succeeds; after each that fails the
 * time is longer. Order is told by the numbers of attempts and not by time, so that it is right at any resolution of the clock.
 */
export class Outage {
  readonly #pacing: OutagePacing;
  readonly #relapseMs: number;
  readonly #random: () => number;
  #isOut = false;
  #rounds = 0;
  #dueMs = 0;
  /** The attempt that is the probe; 0 for none. */
  #probe = 0;
  #probeSentMs = 0;
  #closedMs = -Infinity;
  /** The last attempt that was sent before it began, and before it last ended. */
  #openedAfter = 0;
  #endedAfter = 0;

  /** @param relapseMs begun anew so soon after its end, it goes on with the time out it had reached */
  constructor(pacing: OutagePacing, relapseMs: number, random: () => number) {
    this.#pacing = pacing;
    this.#relapseMs = relapseMs;
    this.#random = random;
  }

  get isOut(): boolean {
    return this.#isOut;
  }

  /** Whether an attempt tells of the time since the last recovery. */
  isNews(attempt: ProbingAttempt): boolean {
    return attempt.number > this.#endedAfter;
  }

  /** Whether an attempt was sent since it began, so that its success is the end of it. */
  isSentDuring(attempt: ProbingAttempt): boolean {
    return this.#isOut && attempt.number > this.#openedAfter;
  }

  /** @param lastNumber of the attempts that were sent so far */
  begin(nowMs: number, lastNumber: number): void {
    if (nowMs - this.#closedMs > this.#relapseMs) this.#rounds = 0;
    this.#isOut = true;
    this.#openedAfter = lastNumber;
    this.#leaveAlone(nowMs);
  }

  end(nowMs: number, lastNumber: number): void {
    this.#isOut = false;
    this.#probe = 0;
    this.#closedMs = nowMs;
    this.#endedAfter = lastNumber;
  }

  #leaveAlone(nowMs: number): void {
    const { firstMs, mostMs } = this.#pacing;
    const outMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#rounds, 30));
    this.#rounds += 1;
    this.#probe = 0;
    this.#dueMs = nowMs + outMs * (1 - jitter + 2 * jitter * this.#random());
  }

  /** Milliseconds until a probe may be sent; 0 when one may be now. */
  waitMs(nowMs: number): number {
    if (this.#probe !== 0 && nowMs - this.#probeSentMs < probeHoldMs) return probeUnderWayMs;
    return Math.max(0, this.#dueMs - nowMs);
  }

  /** The attempt is sent. It becomes the probe unless another is, of which something may still be heard. */
  take(attempt: ProbingAttempt, takenOverAfterMs: number): boolean {
    if (this.#probe !== 0 && attempt.sentMs - this.#probeSentMs < takenOverAfterMs) return false;
    this.#probe = attempt.number;
    this.#probeSentMs = attempt.sentMs;
    return true;
  }

  /** The attempt failed: if it was the probe, it is left alone for longer. */
  probeFailed(attempt: ProbingAttempt, nowMs: number): void {
    if (this.#probe === attempt.number) this.#leaveAlone(nowMs);
  }

  /** The attempt decided nothing: if it was the probe, another may be. */
  probeVoid(attempt: ProbingAttempt): void {
    if (this.#probe === attempt.number) this.#probe = 0;
  }
}
