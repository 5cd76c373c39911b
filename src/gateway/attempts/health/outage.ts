import { FailureStreak, type FailureScope, type StreakBounds } from './failure-signs.ts';
import type { CoolDownSettings, HealthSettings, OutagePacing } from './health-settings.ts';

/** An attempt as an outage sees it: its number, which grows with every attempt, and when it was sent. */
export type ProbingAttempt = { readonly number: number; readonly sentMs: number };

const jitter = 0.2;
/**
 * After this time a running probe no longer blocks the next one: it may be stuck until the time limit of its call, and
 * an upstream must be used within 40 s of its recovery.
 */
const probeHoldMs = 30_000;
/** The reported wait while a probe runs, whose end is unknown. */
const probeUnderWayMs = 1000;

/**
 * An outage: others are preferred for a time, then one attempt at a time probes it until one succeeds. Each failed
 * probe makes the time longer. The numbers of attempts decide their order, not times, so that it is right at any
 * resolution of the clock.
 */
export class Outage {
  readonly #pacing: OutagePacing;
  readonly #relapseMs: number;
  readonly #random: () => number;
  #isOut = false;
  #rounds = 0;
  #dueMs = 0;
  /** The number of the running probe; 0 for none. */
  #probe = 0;
  #probeSentMs = 0;
  #closedMs = -Infinity;
  /** The last attempt that was sent before it began, and before it last ended. */
  #openedAfter = 0;
  #endedAfter = 0;

  /** @param relapseMs an outage that begins again within this time continues with the duration that it had reached */
  constructor(pacing: OutagePacing, relapseMs: number, random: () => number) {
    this.#pacing = pacing;
    this.#relapseMs = relapseMs;
    this.#random = random;
  }

  get isOut(): boolean {
    return this.#isOut;
  }

  /** Whether an attempt was sent after the last recovery. */
  isNews(attempt: ProbingAttempt): boolean {
    return attempt.number > this.#endedAfter;
  }

  /** Whether an attempt was sent during the outage, so that its success ends it. */
  isSentDuring(attempt: ProbingAttempt): boolean {
    return this.#isOut && attempt.number > this.#openedAfter;
  }

  /** @param lastNumber the number of the last attempt that was sent */
  begin(nowMs: number, lastNumber: number): void {
    if (nowMs - this.#closedMs > this.#relapseMs) this.#rounds = 0;
    this.#isOut = true;
    this.#openedAfter = lastNumber;
    this.#extend(nowMs);
  }

  end(nowMs: number, lastNumber: number): void {
    this.#isOut = false;
    this.#probe = 0;
    this.#closedMs = nowMs;
    this.#endedAfter = lastNumber;
  }

  #extend(nowMs: number): void {
    const { firstMs, mostMs } = this.#pacing;
    const outMs = Math.min(mostMs, firstMs * 2 ** Math.min(this.#rounds, 30));
    this.#rounds += 1;
    this.#probe = 0;
    this.#dueMs = nowMs + outMs * (1 - jitter + 2 * jitter * this.#random());
  }

  /** Milliseconds until a probe may be sent; 0 if one may be sent now. */
  waitMs(nowMs: number): number {
    if (this.#probe !== 0 && nowMs - this.#probeSentMs < probeHoldMs) return probeUnderWayMs;
    return Math.max(0, this.#dueMs - nowMs);
  }

  /** The attempt is sent. It becomes the probe unless another may still report. */
  take(attempt: ProbingAttempt, takenOverAfterMs: number): boolean {
    if (this.#probe !== 0 && attempt.sentMs - this.#probeSentMs < takenOverAfterMs) return false;
    this.#probe = attempt.number;
    this.#probeSentMs = attempt.sentMs;
    return true;
  }

  /** The attempt failed: if it was the probe, the outage continues for longer. */
  probeFailed(attempt: ProbingAttempt, nowMs: number): void {
    if (this.#probe === attempt.number) this.#extend(nowMs);
  }

  /** The attempt decided nothing: if it was the probe, another may be. */
  probeVoid(attempt: ProbingAttempt): void {
    if (this.#probe === attempt.number) this.#probe = 0;
  }
}

/**
 * An outage that a streak of failures begins, and the callers that it affects: all, or those whose own calls failed.
 */
export class AttributedOutage {
  readonly outage: Outage;
  readonly #bounds: StreakBounds;
  #streak: FailureStreak;
  #scope: 'all' | Set<string> = 'all';

  constructor(pacing: OutagePacing, bounds: StreakBounds, options: { readonly relapseMs: number; readonly random: () => number }) {
    this.outage = new Outage(pacing, options.relapseMs, options.random);
    this.#bounds = bounds;
    this.#streak = new FailureStreak(bounds);
  }

  get streak(): FailureStreak {
    return this.#streak;
  }

  /** Whether it is out for this caller. */
  isOutFor(caller: string): boolean {
    return this.outage.isOut && (this.#scope === 'all' || this.#scope.has(caller));
  }

  /**
   * Ends the streak.
   * @returns the ended streak, if there was one
   */
  endStreak(): FailureStreak | undefined {
    if (this.#streak.length === 0) return undefined;
    const ended = this.#streak;
    this.#streak = new FailureStreak(this.#bounds);
    return ended;
  }

  /** Continues a streak that was ended too early. */
  resume(streak: FailureStreak): void {
    if (streak.length > this.#streak.length) this.#streak = streak;
  }

  /** @returns whether an outage began */
  begin(scope: FailureScope, caller: string, nowMs: number, lastNumber: number): boolean {
    const { outage } = this;
    const isNew = !outage.isOut;
    if (isNew) {
      outage.begin(nowMs, lastNumber);
      this.#scope = new Set();
    }
    if (scope === 'all') this.#scope = 'all';
    else if (this.#scope !== 'all') this.#scope.add(caller);
    return isNew;
  }

  end(nowMs: number, lastNumber: number): void {
    this.outage.end(nowMs, lastNumber);
    this.endStreak();
  }
}

/** The state that all models of one credential of an upstream share. */
export class CredentialHealth {
  readonly upstreamId: string;
  readonly credentialId: string;
  /** The upstream refuses the credential for everything. */
  readonly rejection: Outage;

  constructor(ids: { readonly upstreamId: string; readonly credentialId: string }, settings: HealthSettings, random: () => number) {
    this.upstreamId = ids.upstreamId;
    this.credentialId = ids.credentialId;
    this.rejection = new Outage(settings.rejected, settings.relapseMs, random);
  }
}

/**
 * The cool-down after a rate limit: others are preferred for a time. A burst that was sent before the limit was known
 * counts once.
 */
export class RateLimitCoolDown {
  readonly #settings: CoolDownSettings;
  #untilMs = -Infinity;
  #inARow = 0;
  /** The last attempt that was sent before it began. */
  #begunAfter = 0;

  constructor(settings: CoolDownSettings) {
    this.#settings = settings;
  }

  /** The remaining milliseconds; 0 for none. */
  waitMs(nowMs: number): number {
    return nowMs >= this.#untilMs ? 0 : this.#untilMs - nowMs;
  }

  /**
   * An attempt was refused.
   * @param retryAfterMs the time that the vendor names; undefined if it names none
   * @param lastNumber the number of the last attempt that was sent
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

  /** An attempt was answered. If it was sent after the limit was met, it ends the cool-down. */
  answered(attempt: ProbingAttempt): void {
    if (this.#inARow === 0 || attempt.number <= this.#begunAfter) return;
    this.#inARow = 0;
    this.#untilMs = -Infinity;
  }
}
