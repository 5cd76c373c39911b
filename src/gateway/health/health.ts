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

/** Whether a target may be called now. */
export type Availability =
  /** `suspect`: calls are waiting for it longer than they should; others are to be preferred. `probe`: it failed and one call may try it. */
  | { readonly usable: true; readonly state: 'healthy' | 'suspect' | 'probe' }
  | { readonly usable: false; readonly reason: 'failing' | 'rate-limited' | 'rejected'; readonly againInMs: number };

/** One attempt as it is counted, from before it is sent until its end. */
export type AttemptTicket = {
  /** The upstream's status line has come. */
  readonly headArrived: () => void;
  /** Once. Later words are ignored. */
  readonly end: (verdict: AttemptVerdict) => void;
};

export type TargetHealth = {
  readonly availability: (nowMs: number) => Availability;
  /** Attempts under way. */
  readonly inFlight: () => number;
  /** Counts an attempt that is about to be sent. Takes the probe where the target is on probation. */
  readonly begin: () => AttemptTicket;
};

/** A target's state, for people and programs that ask. */
export type HealthReport = HealthSubject & {
  readonly state: 'healthy' | 'suspect' | 'failing' | 'rate-limited' | 'rejected';
  /** Milliseconds until it is tried again; absent where it is used. */
  readonly againInMs?: number;
  readonly inFlight: number;
  readonly consecutiveFailures: number;
};

/** The health of all targets that calls went to lately, in this process. */
export type Health = {
  readonly of: (subject: HealthSubject) => TargetHealth;
  readonly report: () => readonly HealthReport[];
};
