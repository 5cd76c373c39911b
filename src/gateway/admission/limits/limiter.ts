import type { RateLimits } from '../../../accounts/access-limits.ts';
import type { AccountLevel } from '../../../accounts/team.ts';
import type { LimitState, RateLimitState } from '../../../inference/rate-limit-state.ts';
import type { Clock } from '../../../platform/clock.ts';
import { UsageWindow } from './usage-window.ts';

/**
 * The owner of limits: a key, a user or a team by its id, the organization, a model by its configured name.
 */
type LimitScope = AccountLevel | 'model';

/** The owner of limits, whatever they are. */
export type LimitOwner = { readonly scope: LimitScope; readonly id: string };

/** One set of limits that a call must respect. */
export type LimitedSubject = LimitOwner & { readonly limits: RateLimits };

/** The limit that refuses a call. */
export type LimitRefusal = {
  readonly admitted: false;
  readonly scope: LimitScope;
  readonly of: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
  /** The part of the limit that other calls use now, and what this call needs. */
  readonly used: number;
  readonly needed: number;
  /**
   * Milliseconds after which the call would be admitted without other calls; Infinity if it never would. For
   * concurrency the time is unknown, and a second is reported.
   */
  readonly waitMs: number;
  readonly state: RateLimitState;
};

/** A call's part of its limits. The first call of `settle`, `release` or `finish` ends it. */
export type Reservation = {
  readonly admitted: true;
  readonly state: RateLimitState;
  /** The call ended and used this many tokens: the estimate is corrected and the slot is released. */
  readonly settle: (tokens: number) => void;
  /** The call was never made: everything is released. */
  readonly release: () => void;
  /** The call ended with unknown tokens: the estimate stands and the slot is released. */
  readonly finish: () => void;
};

/** What counts against the limits of an owner at one moment. */
export type LimitUse = {
  /** Calls and tokens of the last minute. */
  readonly requests: number;
  readonly tokens: number;
  /** Calls under way. */
  readonly concurrency: number;
  /** Whole milliseconds until none of them count, without further calls. Absent if none count now. */
  readonly requestsFreeInMs?: number;
  readonly tokensFreeInMs?: number;
};

/**
 * Limits of calls and tokens in any minute, and of calls at a time, in this process. All limits of a call are taken
 * together or not at all. Pure except for the clock: no timers, and a subject without use for a minute is forgotten as
 * other calls arrive.
 *
 * A call counts from its admission on, with its estimated tokens. When the true number is known, a lower one replaces
 * the estimate at its time; the excess of a higher one counts from that moment on, so that no token is lost.
 */
export type Limiter = {
  readonly reserve: (subjects: readonly LimitedSubject[], estimatedTokens: number) => Reservation | LimitRefusal;
  /** What counts now, in the order of the owners. It changes nothing. Calls without limits are not counted. */
  readonly use: (owners: readonly LimitOwner[]) => readonly LimitUse[];
  readonly size: () => number;
};

/**
 * The same if another process counts: the result may be a promise. It rejects with a GatewayError without an answer,
 * and then nothing is taken.
 */
export type SharedLimiter = {
  readonly reserve: (
    subjects: readonly LimitedSubject[],
    estimatedTokens: number,
  ) => Reservation | LimitRefusal | Promise<Reservation | LimitRefusal>;
  readonly use: (owners: readonly LimitOwner[]) => readonly LimitUse[] | Promise<readonly LimitUse[]>;
};

type Subject = { readonly window: UsageWindow; running: number };

/** The wait that is reported for a free slot, because nobody knows when a call ends. */
const slotWaitMs = 1000;

export function createLimiter({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }): Limiter {
  const subjects: Readonly<Record<LimitScope, Map<string, Subject>>> = {
    key: new Map(),
    user: new Map(),
    team: new Map(),
    organization: new Map(),
    model: new Map(),
  };
  const sweep = createSweep(Object.values(subjects));

  const subjectOf = ({ scope, id }: LimitedSubject): Subject => {
    return subjects[scope].getOrInsertComputed(id, () => ({ window: new UsageWindow(), running: 0 }));
  };

  return {
    reserve: (limited, estimatedTokens) => {
      const nowMs = clock.monotonicMs();
      sweep(nowMs);
      let refused: LimitExcess | undefined;
      const found: Subject[] = [];
      for (const each of limited) {
        const subject = subjectOf(each);
        subject.window.expire(nowMs);
        found.push(subject);
        const refusal = check(subject, each, estimatedTokens, nowMs);
        if (refusal !== undefined && refusal.waitMs > (refused?.waitMs ?? -1)) refused = refusal;
      }
      if (refused !== undefined) return { admitted: false, ...refused, state: stateOf(limited, found, nowMs) };
      const entries: number[] = [];
      for (const subject of found) {
        subject.running += 1;
        entries.push(subject.window.add(nowMs, 1, estimatedTokens));
      }
      return createReservation({ clock, found, entries, estimatedTokens, state: stateOf(limited, found, nowMs) });
    },
    use: (owners) => {
      const nowMs = clock.monotonicMs();
      return owners.map(({ scope, id }) => useOf(subjects[scope].get(id), nowMs));
    },
    size: () => Object.values(subjects).reduce((sum, { size }) => sum + size, 0),
  };
}

function useOf(subject: Subject | undefined, nowMs: number): LimitUse {
  if (subject === undefined) return { requests: 0, tokens: 0, concurrency: 0 };
  const { window, running } = subject;
  window.expire(nowMs);
  const requestsFreeAtMs = window.emptyAtMs('requests');
  const tokensFreeAtMs = window.emptyAtMs('tokens');
  return {
    requests: window.requests,
    tokens: window.tokens,
    concurrency: running,
    ...(requestsFreeAtMs !== undefined && { requestsFreeInMs: roundUpMs(requestsFreeAtMs - nowMs) }),
    ...(tokensFreeAtMs !== undefined && { tokensFreeInMs: roundUpMs(tokensFreeAtMs - nowMs) }),
  };
}

type LimitExcess = Omit<LimitRefusal, 'admitted' | 'state'>;

/** The limit with the longest wait. Undefined if none refuses the call. */
function check({ window, running }: Subject, { scope, limits }: LimitedSubject, tokens: number, nowMs: number): LimitExcess | undefined {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
  let worst: LimitExcess | undefined;
  if (concurrency !== undefined && running >= concurrency)
    worst = { scope, of: 'concurrency', limit: concurrency, used: running, needed: 1, waitMs: slotWaitMs };
  if (requestsPerMinute !== undefined && window.requests >= requestsPerMinute) {
    const waitMs = window.freeAtMs('requests', window.requests + 1 - requestsPerMinute) - nowMs;
    const excess = { scope, of: 'requests', limit: requestsPerMinute, used: window.requests, needed: 1, waitMs } as const;
    if (worst === undefined || waitMs > worst.waitMs) worst = excess;
  }
  if (tokensPerMinute !== undefined && window.tokens + tokens > tokensPerMinute) {
    const over = window.tokens + tokens - tokensPerMinute;
    const waitMs = tokens > tokensPerMinute ? Infinity : window.freeAtMs('tokens', over) - nowMs;
    const excess = { scope, of: 'tokens', limit: tokensPerMinute, used: window.tokens, needed: tokens, waitMs } as const;
    if (worst === undefined || waitMs > worst.waitMs) worst = excess;
  }
  return worst;
}

/** Whole milliseconds, rounded up except for the tiny error in a difference of two large times. */
export function roundUpMs(ms: number): number {
  return Math.ceil(ms - 0.001);
}

/** The tightest limit of each kind. */
function stateOf(limited: readonly LimitedSubject[], found: readonly Subject[], nowMs: number): RateLimitState {
  const requests = tightest('requests', limited, found, nowMs);
  const tokens = tightest('tokens', limited, found, nowMs);
  return { ...(requests === undefined ? {} : { requests }), ...(tokens === undefined ? {} : { tokens }) };
}

function tightest(
  of: 'requests' | 'tokens',
  limited: readonly LimitedSubject[],
  found: readonly Subject[],
  nowMs: number,
): LimitState | undefined {
  let tightestYet: LimitState | undefined;
  for (let index = 0; index < limited.length; index += 1) {
    const limits = limited[index]?.limits;
    const limit = of === 'requests' ? limits?.requestsPerMinute : limits?.tokensPerMinute;
    const window = found[index]?.window;
    if (limit === undefined || window === undefined) continue;
    const remaining = Math.max(0, limit - window[of]);
    if (tightestYet !== undefined && tightestYet.remaining <= remaining) continue;
    tightestYet = { limit, remaining, resetMs: roundUpMs((window.emptyAtMs(of) ?? nowMs) - nowMs) };
  }
  return tightestYet;
}

function createReservation(options: {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly found: readonly Subject[];
  readonly entries: readonly number[];
  readonly estimatedTokens: number;
  readonly state: RateLimitState;
}): Reservation {
  const { clock, found, entries, estimatedTokens, state } = options;
  let ended = false;
  const end = (correct: (window: UsageWindow, entry: number) => void): void => {
    if (ended) return;
    ended = true;
    for (let index = 0; index < found.length; index += 1) {
      const subject = found[index];
      const entry = entries[index];
      if (subject === undefined || entry === undefined) continue;
      subject.running -= 1;
      correct(subject.window, entry);
    }
  };
  return {
    admitted: true,
    state,
    settle: (tokens) => {
      const nowMs = clock.monotonicMs();
      end((window, entry) => {
        window.expire(nowMs);
        if (tokens > estimatedTokens) window.add(nowMs, 0, tokens - estimatedTokens);
        else window.takeOff(entry, 0, estimatedTokens - tokens);
      });
    },
    release: () => end((window, entry) => window.takeOff(entry, 1, estimatedTokens)),
    finish: () => end(() => {}),
  };
}

/**
 * Checks two subjects of each kind with every call, in turn, and forgets unused ones, so that memory follows use
 * without a timer.
 */
function createSweep(kinds: readonly Map<string, Subject>[]): (nowMs: number) => void {
  const turns = kinds.map((subjects) => ({ subjects, turn: subjects.entries() }));
  return (nowMs) => {
    for (const each of turns) {
      for (let looked = 0; looked < 2 && each.subjects.size > 0; looked += 1) {
        const { value, done } = each.turn.next();
        if (done === true) {
          each.turn = each.subjects.entries();
          continue;
        }
        const [id, { window, running }] = value;
        if (running > 0) continue;
        window.expire(nowMs);
        if (window.isEmpty()) each.subjects.delete(id);
      }
    }
  };
}
