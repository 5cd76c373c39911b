import type { SuspicionSettings } from './health-settings.ts';

/** Whom a row of failures concerns: everybody, or the one caller whose calls failed. */
export type Concerned = 'all' | 'caller';

/** How long a row has to be, and how much of it may be of one caller where it concerns everybody. */
export type RowBounds = { readonly length: number; readonly perCallerMost: number };

type CallerFailures = {
  /** Its distinct requests that failed; no more than matter. */
  readonly requests: Set<string>;
  calls: number;
};

/** More callers than any bound needs. */
const rowCallersMax = 16;

/**
 * Failures in a row, by those whose calls they were. What depends on the request counts by distinct callers and distinct requests: whoever sends what an upstream cannot
 * bear, however often, finds it failing for itself and for nobody else. What no request can cause counts for everybody.
 */
export class CallerRow {
  readonly #bounds: RowBounds;
  readonly #callers = new Map<string, CallerFailures>();
  #length = 0;
  #causeless = 0;

  constructor(bounds: RowBounds) {
    this.#bounds = bounds;
  }

  /** Calls that failed. */
  get length(): number {
    return this.#length;
  }

  /** @param request what tells it from others of its caller; undefined where no request can cause the failure */
  add(caller: string, request: string | undefined): void {
    this.#length += 1;
    const failures = this.#failuresOf(caller);
    if (failures !== undefined) failures.calls += 1;
    if (request === undefined) this.#causeless += 1;
    else if (failures !== undefined && failures.requests.size < this.#bounds.length) failures.requests.add(request);
  }

  #failuresOf(caller: string): CallerFailures | undefined {
    const known = this.#callers.get(caller);
    if (known !== undefined || this.#callers.size >= rowCallersMax) return known;
    const failures = { requests: new Set<string>(), calls: 0 };
    this.#callers.set(caller, failures);
    return failures;
  }

  /** Whom the row concerns by now, seen from the caller who came to it last. */
  judge(caller: string): Concerned | undefined {
    const { length, perCallerMost } = this.#bounds;
    let shared = this.#causeless;
    for (const { requests } of this.#callers.values()) shared += Math.min(perCallerMost, requests.size);
    if (shared >= length) return 'all';
    return (this.#callers.get(caller)?.requests.size ?? 0) + this.#causeless >= length ? 'caller' : undefined;
  }

  /** How many calls of a caller failed one after the other, whatever they asked. */
  callsOf(caller: string): number {
    return this.#callers.get(caller)?.calls ?? 0;
  }
}

const buckets = 10;
/** Attempts leave the window of 30 seconds a bucket at a time. */
const bucketMs = 3000;

/**
 * Attempts and failures of the last 30 seconds, in memory of fixed size. An attempt is counted when it is sent and a failure when it is known, however
 * long that took: an upstream that fails slowly is seen both by its attempts and by its failures (zeromicro/go-zero#5011).
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

export type ShareBounds = { readonly share: number; readonly attemptsMin: number; readonly othersMin: number };

/** What is known of a caller whose calls failed lately. */
type CallerShare = { readonly window: FailureWindow; readonly requests: Set<string> };

const callersMax = 16;
const requestsMax = 64;

/**
 * The share of attempts that failed within the last 30 seconds. It concerns everybody where it is as large without the caller whose calls failed most, and otherwise that
 * caller alone. A request that fails again and again counts once.
 */
export class FailureShare {
  readonly #bounds: ShareBounds;
  readonly #all = new FailureWindow();
  /** Callers with failures in the window; from their first one on their attempts are counted apart. */
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

  /** An attempt that says nothing was never made. */
  takeBack(caller: string, bucket: number, nowMs: number): void {
    this.#all.takeBack(bucket, nowMs);
    if (this.#callers.size > 0) this.#callers.get(caller)?.window.takeBack(bucket, nowMs);
  }

  /**
   * @param attempt the bucket in which the attempt was counted
   * @param request undefined where no request can cause the failure
   * @returns whom it concerns by now, seen from this caller
   */
  addFailure(caller: string, attempt: number, request: string | undefined, nowMs: number): Concerned | undefined {
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
    const known = this.#callers.get(caller);
    if (known !== undefined || this.#callers.size >= callersMax) return known;
    const made = { window: new FailureWindow(), requests: new Set<string>() };
    // The attempt that failed.
    made.window.addAttempt(nowMs);
    this.#callers.set(caller, made);
    return made;
  }

  #judge(caller: string, nowMs: number): Concerned | undefined {
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
