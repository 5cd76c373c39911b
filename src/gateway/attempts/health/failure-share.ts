import type { Concerned } from './caller-row.ts';
import { FailureWindow } from './failure-window.ts';

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
