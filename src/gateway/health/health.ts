/** What is healthy or not: a model at an upstream, reached with one of the upstream's credentials. */
export type HealthSubject = { readonly upstreamId: string; readonly credentialId: string; readonly upstreamModel: string };

/**
 * What an attempt says about its target. `answered`: the upstream did its work, which includes refusing a request that is wrong. `failed`: it could not be
 * reached, broke off, was too slow or answered 5xx. `rate-limited`: it wants fewer calls. `rejected`: it refuses the credential, for everything or for this
 * model. `unknown`: the attempt ended for another reason, such as its client leaving.
 */
export type AttemptVerdict =
  | { readonly type: 'answered' }
  | { readonly type: 'failed' }
  | { readonly type: 'rate-limited'; readonly retryAfterMs?: number }
  | { readonly type: 'rejected'; readonly reach: 'credential' | 'model' }
  | { readonly type: 'unknown' };

/**
 * Whether a target may be called now.
 *
 * `suspect`: calls are waiting for it longer than they should; others are to be preferred, and it is never refused. `probe`: it failed, or it was suspect and
 * nobody has asked it for a while, and one call may try it. A target comes back only by its probes, so a call's first attempt prefers it to the
 * healthy ones; a retry leaves it to others, so that a call does not meet two failing targets.
 *
 * The reason of an unusable target is what holds it up longest. As a last resort `rate-limited` comes before `failing` and that before `rejected`.
 */
export type Availability =
  | { readonly usable: true; readonly state: 'healthy' | 'suspect' | 'probe' }
  | { readonly usable: false; readonly reason: UnusableReason; readonly againInMs: number };

export type UnusableReason = 'failing' | 'rate-limited' | 'rejected';

/** One attempt as it is counted, from before it is sent until its end. */
export type AttemptTicket = {
  /** Whether the target is on probation and this attempt decides what becomes of it: its caller may be less patient, and retries elsewhere. */
  readonly isProbe: boolean;
  /** The upstream's status line has come, whatever it says. Later words are ignored. */
  readonly headArrived: () => void;
  /**
   * The first content of a good reply has come. It ends probation at once: a stream may take minutes to its end. It implies `headArrived`; a caller who
   * leaves that out for streams also has those suspected that stall between their head and their content.
   */
  readonly contentArrived: () => void;
  /** Once, however the attempt ended. Later words are ignored. */
  readonly end: (verdict: AttemptVerdict) => void;
};

export type TargetHealth = {
  /** @param nowMs monotonic, as from the clock that health was made with */
  readonly availability: (nowMs: number) => Availability;
  /** Attempts under way. */
  readonly inFlight: () => number;
  /**
   * Asked where none of a model's targets is usable, for the best of them, and for a call's first attempt only: whether this call may be sent
   * all the same, so that a model whose only target failed is back within about a second of its recovery. True takes the turn: send it.
   *
   * A target that is only rate-limited always admits it: limits count tokens as well as calls, so the vendor may take this call, and where it does not,
   * its own answer is the true one. So does one that is out for the share of its failures, without five in a row. Otherwise one call a second may try it, one in five seconds where the credential was rejected, and none
   * while an earlier try has been waiting for less than five seconds.
   */
  readonly admitsLastResort: (nowMs: number) => boolean;
  /**
   * Counts an attempt that is about to be sent. Takes the probe where the target is on probation; so ask `availability` or `admitsLastResort` and begin in
   * the same turn of the event loop, or ask again after what was waited for.
   */
  readonly begin: () => AttemptTicket;
};

/** A target's state, for people and programs that ask. */
export type HealthReport = HealthSubject & {
  readonly state: 'healthy' | 'suspect' | UnusableReason;
  /** Milliseconds until it is tried again; absent where it is used. */
  readonly againInMs?: number;
  readonly inFlight: number;
  readonly consecutiveFailures: number;
};

/** The health of all targets that calls went to lately, in this process. */
export type Health = {
  /** A look-up; what it returns may be kept for a call, and is not to be kept longer. */
  readonly of: (subject: HealthSubject) => TargetHealth;
  readonly report: () => readonly HealthReport[];
};
