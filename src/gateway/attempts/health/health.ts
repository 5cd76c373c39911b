/**
 * The call of an attempt. A request may itself cause a failure, so health needs its caller and its digest. The attempts
 * of one call count once.
 */
export type HealthQuery = {
  /** The user of the call. */
  readonly caller: string;
  /** Distinguishes its request from others of its caller. Called after a failure. */
  readonly digest: () => string;
  /** The targets at which its failure was counted. */
  readonly countedAt: object[];
};

/** The unit of health: a model at an upstream, reached with one of the upstream's credentials. */
export type HealthSubject = { readonly upstreamId: string; readonly credentialId: string; readonly upstreamModel: string };

/**
 * The result of an attempt for its target. `answered`: the upstream worked, which includes refusing a wrong request.
 * `failed`: it was unreachable, interrupted its answer, was too slow or answered 5xx. `rate-limited`: it asks for fewer
 * calls. `rejected`: it refuses the credential, for everything or for this model. `unknown`: the attempt ended for
 * another reason, such as the client's disconnect.
 */
export type AttemptVerdict =
  | { readonly type: 'answered' }
  | { readonly type: 'failed'; readonly cause: FailureCause }
  | { readonly type: 'rate-limited'; readonly retryAfterMs?: number }
  | { readonly type: 'rejected'; readonly reach: 'credential' | 'model' }
  | { readonly type: 'unknown' };

/**
 * The possible cause of a failure. `connection`: no connection was established, which no request can cause. `silence`:
 * it was interrupted or too slow before any answer; it may be unable to process this caller's calls. `reply`: it
 * answered with a failure, so the request itself may be the cause.
 */
export type FailureCause = 'connection' | 'silence' | 'reply';

/**
 * The state of a target for a caller. It decides the order of targets and whether a second attempt is worth making,
 * never whether a call is made: if no target works, the best of them is called.
 *
 * `suspect`: calls have waited too long for it; others are preferred, and it is never refused. `probe`: it failed, or
 * it was suspect and unused for a while, and one call may test it. Only probes end an outage, so a call's first attempt
 * prefers such a target to healthy ones; a retry avoids it, so that a call does not meet two failing targets.
 *
 * The reason of an unusable target is the one that lasts longest. If no target is usable, `rate-limited` comes before
 * `failing`, and that before `rejected`.
 */
export type Availability =
  | { readonly usable: true; readonly state: 'healthy' | 'suspect' | 'probe' }
  | { readonly usable: false; readonly reason: UnusableReason; readonly againInMs: number };

export type UnusableReason = 'failing' | 'rate-limited' | 'rejected';

/** One counted attempt, from before it is sent until its end. */
export type AttemptTicket = {
  /** Whether this attempt probes its target: its caller may be less patient, and retries elsewhere. */
  readonly isProbe: boolean;
  /** The upstream's status line has arrived. Only the first call counts. */
  readonly headArrived: () => void;
  /**
   * The first content of a good reply has arrived. It ends an outage at once, because a stream may take minutes to its
   * end. It implies `headArrived`. A caller that omits `headArrived` for streams also makes those suspect that stall
   * between head and content.
   */
  readonly contentArrived: () => void;
  /** The attempt has ended. Only the first call counts. */
  readonly end: (verdict: AttemptVerdict) => void;
};

export type TargetHealth = {
  /**
   * @param nowMs monotonic, by the clock of health
   * @param caller the user of the call; absent: none
   */
  readonly availability: (nowMs: number, caller?: string) => Availability;
  /** Running attempts. */
  readonly inFlight: () => number;
  /** The time of the last attempt there, by the same clock. */
  readonly lastSentMs: () => number;
  /** Whether a second attempt of a call may succeed there: not if the caller's last calls have all failed. */
  readonly isWorthRetry: (caller?: string) => boolean;
  /**
   * Counts an attempt that is about to be sent. It becomes the probe if the target needs one, so call `availability` in
   * the same turn of the event loop, or again after a wait.
   * @param call absent: a call of its own, without a caller
   */
  readonly begin: (call?: HealthQuery) => AttemptTicket;
};

/** A target's state, for people and programs. */
export type HealthReport = HealthSubject & {
  readonly state: 'healthy' | 'suspect' | UnusableReason;
  /** Milliseconds until it is probed; absent if it is in use. */
  readonly againInMs?: number;
  readonly inFlight: number;
  readonly consecutiveFailures: number;
  /** Whether an attempt was ever answered: without one, `healthy` only means that nothing has failed. */
  readonly hasAnswered: boolean;
};

/** The health of all recently used targets, in this process. */
export type Health = {
  /** A look-up. The result may be used for one call, not longer. */
  readonly of: (subject: HealthSubject) => TargetHealth;
  readonly report: () => readonly HealthReport[];
};

/** The health of targets as routing and retries read it. */
export type HealthReader = {
  readonly of: (
    subject: Parameters<Health['of']>[0],
  ) => Pick<TargetHealth, 'availability' | 'inFlight'> & Partial<Pick<TargetHealth, 'lastSentMs' | 'isWorthRetry'>>;
};

const healthy = { availability: () => ({ usable: true, state: 'healthy' }) as const, inFlight: () => 0 };

/** The health if every target is treated as healthy. */
export const alwaysHealthy: HealthReader = { of: () => healthy };
