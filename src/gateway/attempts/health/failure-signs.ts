import type { SuspicionSettings } from './health-settings.ts';

/** Whether failures concern all callers, or only the caller whose calls failed. */
export type FailureScope = 'all' | 'caller';

/** The length of a streak that counts, and the share of one caller that counts if it concerns all callers. */
export type StreakBounds = { readonly length: number; readonly perCallerMost: number };

type CallerFailures = {
  /** Its distinct failed requests, up to the number that matters. */
  readonly requests: Set<string>;
  calls: number;
};

/** More callers than any bound needs. */
const streakCallersMax = 16;

/**
 * Consecutive failures by caller. A failure that may depend on the request counts by distinct callers and distinct
 * requests: a caller whose requests an upstream cannot process finds it failing for itself only, however often it
 * repeats them. A failure that no request can cause counts for everybody.
 */
export class FailureStreak {
  readonly #bounds: StreakBounds;
  readonly #callers = new Map<string, CallerFailures>();
  #length = 0;
  #causeless = 0;

  constructor(bounds: StreakBounds) {
    this.#bounds = bounds;
  }

  /** Failed calls. */
  get length(): number {
    return this.#length;
  }

  /**
   * @param request distinguishes it from other requests of its caller; undefined if no request can cause the failure
   */
  add(caller: string, request: string | undefined): void {
    this.#length += 1;
    const failures = this.#failuresOf(caller);
    if (failures !== undefined) failures.calls += 1;
    if (request === undefined) this.#causeless += 1;
    else if (failures !== undefined && failures.requests.size < this.#bounds.length) failures.requests.add(request);
  }

  #failuresOf(caller: string): CallerFailures | undefined {
    const existing = this.#callers.get(caller);
    if (existing !== undefined || this.#callers.size >= streakCallersMax) return existing;
    const failures = { requests: new Set<string>(), calls: 0 };
    this.#callers.set(caller, failures);
    return failures;
  }

  /** The callers that the streak concerns now, from the view of its last caller. */
  judge(caller: string): FailureScope | undefined {
    const { length, perCallerMost } = this.#bounds;
    let shared = this.#causeless;
    for (const { requests } of this.#callers.values()) shared += Math.min(perCallerMost, requests.size);
    if (shared >= length) return 'all';
    return (this.#callers.get(caller)?.requests.size ?? 0) + this.#causeless >= length ? 'caller' : undefined;
  }

  /** How many consecutive calls of a caller failed, whatever their requests. */
  callsOf(caller: string): number {
    return this.#callers.get(caller)?.calls ?? 0;
  }
}

const buckets = 10;
/** Attempts leave the window of 30 seconds one bucket at a time. */
const bucketMs = 3000;

/**
 * Attempts and failures of the last 30 seconds, in memory of fixed size. An attempt is counted when it is sent and a
 * failure when it is known, however long that took, so that slow failures count as well (zeromicro/go-zero#5011).
 */
class FailureWindow {
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

  /** Removes an attempt that says nothing. */
  takeBack(bucket: number, nowMs: number): void {
    if (this.#advance(nowMs) - bucket >= buckets) return;
    const at = bucket % buckets;
    if (this.#counts[at] === 0) return;
    this.#add(at, -1);
    this.#attempts -= 1;
  }

  /** Forgets counts older than the window. */
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

  /** Empties the buckets that have expired since the last call. */
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

export type ShareBounds = { readonly share: number; readonly attemptsMin: number; readonly othersMin: number };

/** The recent attempts of a caller whose calls failed. */
type CallerShare = { readonly window: FailureWindow; readonly requests: Set<string> };

const callersMax = 16;
const requestsMax = 64;

/**
 * The share of attempts that failed within the last 30 seconds. It concerns all callers if it is as large without the
 * caller with the most failures, and otherwise only that caller. A request that fails repeatedly counts once.
 */
export class FailureShare {
  readonly #bounds: ShareBounds;
  readonly #all = new FailureWindow();
  /** Callers with failures in the window. Their attempts are counted separately from their first failure on. */
  readonly #callers = new Map<string, CallerShare>();

  constructor(bounds: ShareBounds) {
    this.#bounds = bounds;
  }

  /** @returns the bucket, for `takeBack` */
  addAttempt(caller: string, nowMs: number): number {
    const bucket = this.#all.addAttempt(nowMs);
    if (this.#callers.size > 0) {
      if (this.#all.failures === 0) this.#callers.clear();
      else this.#callers.get(caller)?.window.addAttempt(nowMs);
    }
    return bucket;
  }

  /** Removes an attempt that says nothing. */
  takeBack(caller: string, bucket: number, nowMs: number): void {
    this.#all.takeBack(bucket, nowMs);
    if (this.#callers.size > 0) this.#callers.get(caller)?.window.takeBack(bucket, nowMs);
  }

  /**
   * @param attempt the bucket in which the attempt was counted
   * @param request undefined if no request can cause the failure
   * @returns the callers that it concerns now, from the view of this caller
   */
  addFailure(caller: string, attempt: number, request: string | undefined, nowMs: number): FailureScope | undefined {
    const own = request === undefined ? undefined : this.#shareOf(caller, nowMs);
    if (own !== undefined && request !== undefined) {
      if (own.requests.has(request)) {
        this.takeBack(caller, attempt, nowMs);
        return undefined;
      }
      if (own.requests.size < requestsMax) own.requests.add(request);
    }
    this.#all.addFailure(nowMs);
    own?.window.addFailure(nowMs);
    return this.#judge(caller, nowMs);
  }

  #shareOf(caller: string, nowMs: number): CallerShare | undefined {
    const existing = this.#callers.get(caller);
    if (existing !== undefined || this.#callers.size >= callersMax) return existing;
    const share = { window: new FailureWindow(), requests: new Set<string>() };
    // Counts the attempt that failed.
    share.window.addAttempt(nowMs);
    this.#callers.set(caller, share);
    return share;
  }

  #judge(caller: string, nowMs: number): FailureScope | undefined {
    const { share, attemptsMin, othersMin } = this.#bounds;
    const { attempts, failures } = this.#all;
    if (attempts < attemptsMin || failures < share * attempts) return undefined;
    let most: CallerShare | undefined;
    for (const each of this.#callers.values()) {
      each.window.advance(nowMs);
      if (most === undefined || each.window.failures > most.window.failures) most = each;
    }
    const others = attempts - (most?.window.attempts ?? 0);
    const theirs = failures - (most?.window.failures ?? 0);
    if (others >= othersMin && theirs >= share * others) return 'all';
    return most !== undefined && most === this.#callers.get(caller) ? 'caller' : undefined;
  }

  clear(): void {
    this.#all.clear();
    this.#callers.clear();
  }
}

/** How fast the mean and the deviation adapt, as for the round-trip times of TCP (RFC 6298). */
const meanGain = 1 / 8;
const deviationGain = 1 / 4;

/**
 * Notices a silent upstream long before any time limit: attempts wait for their status lines, and none has arrived for
 * much longer than usual. It keeps no list. Every head begins a new epoch and clears the attempts that waited; an
 * attempt is counted until it or its epoch ends.
 */
export class WaitWatch {
  readonly #settings: SuspicionSettings;
  #epoch = 0;
  #waiting = 0;
  /** Since when attempts of this epoch have been waiting without a break. */
  #sinceMs = 0;
  #meanMs = -1;
  #deviationMs = 0;

  constructor(settings: SuspicionSettings) {
    this.#settings = settings;
  }

  /**
   * An attempt is sent.
   * @returns its epoch, for `leave`
   */
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

  /**
   * Learns the time to the head of a successful attempt. An error comes faster and says nothing about the usual time.
   */
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
