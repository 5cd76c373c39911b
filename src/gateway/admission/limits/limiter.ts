import type { RateLimits } from '../../../accounts/access-limits.ts';
import type { LimitState, RateLimitState } from '../../../inference/rate-limit-state.ts';
import type { Clock } from '../../../platform/clock.ts';
import { UsageWindow } from './usage-window.ts';

/** Whose limits they are: a key by its id, a user by its id, a model by the name of its configuration. */
type LimitScope = 'key' | 'user' | 'model';

/** One set of limits that a call has to keep. */
export type LimitedSubject = { readonly scope: LimitScope; readonly id: string; readonly limits: RateLimits };

/** Why a call may not be made now. */
export type LimitRefusal = {
  readonly admitted: false;
  readonly scope: LimitScope;
  readonly of: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
  /** Milliseconds after which the call would be admitted if nobody else came; Infinity when it never would be. For concurrency it cannot be known and is a second. */
  readonly waitMs: number;
  readonly standing: RateLimitState;
};

/** What a call has taken of its limits. It ends once: by the first of the three ways out. */
export type Reservation = {
  readonly admitted: true;
  readonly standing: RateLimitState;
  /** The call ended and used this many tokens: the estimate is corrected and the slot is free. */
  readonly settle: (tokens: number) => void;
  /** The call was never made: everything is given back. */
  readonly release: () => void;
  /** The call ended and nothing is known of its tokens: the estimate stands and the slot is free. */
  readonly finish: () => void;
};

/**
 * Limits of calls and tokens in any minute, and of calls at a time, in this process. All limits of a call are taken together or none is. Pure but for the
 * clock: no timers, and what nobody has used for a minute is forgotten as other calls come.
 *
 * A call counts from the moment it is admitted, with the tokens it is estimated to use. When its true tokens are known, fewer replace the estimate where it
 * stands; more are counted from that moment on, so that none is ever lost.
 */
export type Limiter = {
  readonly reserve: (subjects: readonly LimitedSubject[], estimatedTokens: number) => Reservation | LimitRefusal;
  /** Subjects in memory. */
  readonly size: () => number;
};

/** The same where another process counts: the answer may take a moment. It rejects with a GatewayError when there is none, and then nothing is taken. */
export type SharedLimiter = {
  readonly reserve: (
    subjects: readonly LimitedSubject[],
    estimatedTokens: number,
  ) => Reservation | LimitRefusal | Promise<Reservation | LimitRefusal>;
};

type Subject = { readonly window: UsageWindow; running: number };

/** What a caller who waits for a free slot is told, because nobody knows when a call ends. */
const slotWaitMs = 1000;

export function createLimiter({ clock }: { readonly clock: Pick<Clock, 'monotonicMs'> }): Limiter {
  const subjects: Readonly<Record<LimitScope, Map<string, Subject>>> = { key: new Map(), user: new Map(), model: new Map() };
  const sweep = createSweep(Object.values(subjects));

  const subjectOf = ({ scope, id }: LimitedSubject): Subject => {
    const known = subjects[scope].get(id);
    if (known !== undefined) return known;
    const made: Subject = { window: new UsageWindow(), running: 0 };
    subjects[scope].set(id, made);
    return made;
  };

  return {
    reserve: (limited, estimatedTokens) => {
      const nowMs = clock.monotonicMs();
      sweep(nowMs);
      let refused: Hindrance | undefined;
      const found: Subject[] = [];
      for (const each of limited) {
        const subject = subjectOf(each);
        subject.window.expire(nowMs);
        found.push(subject);
        const refusal = check(subject, each, estimatedTokens, nowMs);
        if (refusal !== undefined && refusal.waitMs > (refused?.waitMs ?? -1)) refused = refusal;
      }
      if (refused !== undefined) return { admitted: false, ...refused, standing: standingOf(limited, found, nowMs) };
      const entries: number[] = [];
      for (const subject of found) {
        subject.running += 1;
        entries.push(subject.window.add(nowMs, 1, estimatedTokens));
      }
      return createReservation({ clock, found, entries, estimatedTokens, standing: standingOf(limited, found, nowMs) });
    },
    size: () => subjects.key.size + subjects.user.size + subjects.model.size,
  };
}

type Hindrance = Omit<LimitRefusal, 'admitted' | 'standing'>;

/** The limit that holds a call up for the longest time; undefined when none does. */
function check({ window, running }: Subject, { scope, limits }: LimitedSubject, tokens: number, nowMs: number): Hindrance | undefined {
  const { requestsPerMinute, tokensPerMinute, concurrency } = limits;
  let worst: Hindrance | undefined;
  if (concurrency !== undefined && running >= concurrency) worst = { scope, of: 'concurrency', limit: concurrency, waitMs: slotWaitMs };
  if (requestsPerMinute !== undefined && window.requests >= requestsPerMinute) {
    const waitMs = window.freeAtMs('requests', window.requests + 1 - requestsPerMinute) - nowMs;
    if (worst === undefined || waitMs > worst.waitMs) worst = { scope, of: 'requests', limit: requestsPerMinute, waitMs };
  }
  if (tokensPerMinute !== undefined && window.tokens + tokens > tokensPerMinute) {
    const over = window.tokens + tokens - tokensPerMinute;
    const waitMs = tokens > tokensPerMinute ? Infinity : window.freeAtMs('tokens', over) - nowMs;
    if (worst === undefined || waitMs > worst.waitMs) worst = { scope, of: 'tokens', limit: tokensPerMinute, waitMs };
  }
  return worst;
}

/** Whole milliseconds, rounded up but for the hair's breadth that a difference of two large times can be off by. */
export function roundUpMs(ms: number): number {
  return Math.ceil(ms - 0.001);
}

/** The tightest of the limits of each kind. */
function standingOf(limited: readonly LimitedSubject[], found: readonly Subject[], nowMs: number): RateLimitState {
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
  readonly standing: RateLimitState;
}): Reservation {
  const { clock, found, entries, estimatedTokens, standing } = options;
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
    standing,
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

/** Looks at two subjects of each kind with every call, in turn, and forgets those that nobody uses: memory follows use without a timer. */
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
