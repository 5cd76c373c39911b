/**
 * The call that an attempt is made for. A failure may be the work of the request itself, so health asks whose it is and which; and the attempts
 * of one call count once.
 */
export type AskingCall = {
  /** The user whose call it is. */
  readonly caller: string;
  /** Tells its request from others of its caller. Asked for when it has failed. */
  readonly digest: () => string;
  /** The targets at which a failure of it was counted. */
  readonly countedAt: object[];
};

/** What is healthy or not: a model at an upstream, reached with one of the upstream's credentials. */
export type HealthSubject = { readonly upstreamId: string; readonly credentialId: string; readonly upstreamModel: string };

/**
 * What an attempt says about its target. `answered`: the upstream did its work, which includes refusing a request that is wrong. `failed`: it could not be
 * reached, broke off, was too slow or answered 5xx. `rate-limited`: it wants fewer calls. `rejected`: it refuses the credential, for everything or for this
 * model. `unknown`: the attempt ended for another reason, such as its client leaving.
 */
export type AttemptVerdict =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly cause: FailureCause }
  | { readonly type: 'rate-limited'; readonly retryAfterMs?: number }
  | { readonly type: 'rejected'; readonly reach: 'credential' | 'model' }
  | { readonly type: 'unknown' };

/**
 * What may have caused a failure. `connection`: no request can, none came to be. `silence`: it broke off or took too long before it said anything; the caller's calls may be of a
 * kind that it cannot bear. `reply`: it answered with a failure, so the request itself may be to blame.
 */
export type FailureCause = 'connection' | 'silence' | 'reply';

/**
 * How a target is to be seen now by a caller. It decides the order of targets and whether a second attempt is worth it, and never whether a call is made: where nothing better
 * exists, the best of what does not work is called.
 *
 * `suspect`: calls are waiting for it longer than they should; others are to be preferred, and it is never refused. `probe`: it failed, or it was suspect and
 * nobody has asked it for a while, and one call may try it. A target comes back only by its probes, so a call's first attempt prefers it to the
 * healthy ones; a retry leaves it to others, so that a call does not meet two failing targets.
 *
 * The reason of an unusable target is what holds it up longest. Where nothing is usable `rate-limited` comes before `failing` and that before `rejected`.
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
  /**
   * @param nowMs monotonic, as from the clock that health was made with
   * @param caller the user whose call it is; absent: nobody's
   */
  readonly availability: (nowMs: number, caller?: string) => Availability;
  /** Attempts under way. */
  readonly inFlight: () => number;
  /** When an attempt was last sent there, by the same clock. */
  readonly lastSentMs: () => number;
  /** Whether a second attempt of a call has a chance there: not where the caller's calls have failed one after the other. */
  readonly isWorthRetry: (caller?: string) => boolean;
  /**
   * Counts an attempt that is about to be sent. Takes the probe where the target is on probation; so ask `availability` and begin in the same turn of the event loop, or ask
   * again after what was waited for.
   * @param call absent: a call of its own, of nobody
   */
  readonly begin: (call?: AskingCall) => AttemptTicket;
};

/** A target's state, for people and programs that ask. */
export type HealthReport = HealthSubject & {
  readonly state: 'healthy' | 'suspect' | UnusableReason;
  /** Milliseconds until it is tried again; absent where it is used. */
  readonly againInMs?: number;
  readonly inFlight: number;
  /** Calls that failed one after the other. */
  readonly consecutiveFailures: number;
};

/** The health of all targets that calls went to lately, in this process. */
export type Health = {
  /** A look-up; what it returns may be kept for a call, and is not to be kept longer. */
  readonly of: (subject: HealthSubject) => TargetHealth;
  readonly report: () => readonly HealthReport[];
};

/** What routing and retries ask of the health of targets. */
export type KnownHealth = {
  readonly of: (
    subject: Parameters<Health['of']>[0],
  ) => Pick<TargetHealth, 'availability' | 'inFlight'> & Partial<Pick<TargetHealth, 'lastSentMs' | 'isWorthRetry'>>;
};

const healthy = { availability: () => ({ usable: true, state: 'healthy' }) as const, inFlight: () => 0 };

/** The health of targets of which nothing bad is known. */
export const alwaysHealthy: KnownHealth = { of: () => healthy };
