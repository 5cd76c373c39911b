import { CallerRow, type Concerned, type RowBounds } from './failure-signs.ts';
import type { CoolingSettings, HealthSettings, OutagePacing } from './health-settings.ts';

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

/** An outage that a row of failures begins, and whom it concerns: everybody, or those callers whose own calls failed. */
export class BlamedOutage {
  readonly outage: Outage;
  readonly #bounds: RowBounds;
  #row: CallerRow;
  #concerned: 'all' | Set<string> = 'all';

  constructor(pacing: OutagePacing, bounds: RowBounds, options: { readonly relapseMs: number; readonly random: () => number }) {
    this.outage = new Outage(pacing, options.relapseMs, options.random);
    this.#bounds = bounds;
    this.#row = new CallerRow(bounds);
  }

  get row(): CallerRow {
    return this.#row;
  }

  /** Whether it is out for this caller. */
  isOutFor(caller: string): boolean {
    return this.outage.isOut && (this.#concerned === 'all' || this.#concerned.has(caller));
  }

  /** Ends the row. @returns the one that was ended, where there was one */
  breakRow(): CallerRow | undefined {
    if (this.#row.length === 0) return undefined;
    const ended = this.#row;
    this.#row = new CallerRow(this.#bounds);
    return ended;
  }

  /** Goes on with a row that was ended too early. */
  resume(row: CallerRow): void {
    if (row.length > this.#row.length) this.#row = row;
  }

  /** @returns whether an outage began */
  begin(concerned: Concerned, caller: string, nowMs: number, lastNumber: number): boolean {
    const { outage } = this;
    const isNew = !outage.isOut;
    if (isNew) {
      outage.begin(nowMs, lastNumber);
      this.#concerned = new Set();
    }
    if (concerned === 'all') this.#concerned = 'all';
    else if (this.#concerned !== 'all') this.#concerned.add(caller);
    return isNew;
  }

  end(nowMs: number, lastNumber: number): void {
    this.outage.end(nowMs, lastNumber);
    this.breakRow();
  }
}

/** What all models share that are reached with one credential of an upstream. */
export class CredentialHealth {
  readonly upstreamId: string;
  readonly credentialId: string;
  /** That the upstream refuses the credential for everything. */
  readonly rejection: Outage;

  constructor(ids: { readonly upstreamId: string; readonly credentialId: string }, settings: HealthSettings, random: () => number) {
    this.upstreamId = ids.upstreamId;
    this.credentialId = ids.credentialId;
    this.rejection = new Outage(settings.rejected, settings.relapseMs, random);
  }
}

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
