import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import type { AttemptVerdict, FailureCause, HealthSubject } from '../health/health.ts';

/**
 * The kind of a failure. `answered`: the upstream did its work, or the fault is in the request, and another target
 * would give the same answer. `own`: the gateway's own error, which says nothing about an upstream. `timed-out`: a time
 * limit of the gateway expired. `credential-rejected`: the upstream accepts the credential for nothing.
 * `model-refused`: it does not accept the credential for this model, or for this request's cost. `filtered`: its filter
 * refused the content, which is often the policy of the operator's company.
 */
type FailureKind = 'answered' | 'filtered' | 'own' | 'failed' | 'timed-out' | 'rate-limited' | 'credential-rejected' | 'model-refused';

/** The codes of failures at an upstream. All others are the gateway's own. */
const kindByCode: Readonly<Partial<Record<ErrorCode, FailureKind>>> = {
  context_length_exceeded: 'answered',
  request_too_large: 'answered',
  upstream_refused_request: 'answered',
  upstream_content_filtered: 'filtered',
  upstream_model_not_found: 'answered',
  // The model's answer is too large. A second one would be paid again.
  upstream_reply_too_large: 'answered',
  upstream_invalid_reply: 'failed',
  upstream_unreachable: 'failed',
  upstream_connection_error: 'failed',
  upstream_overloaded: 'failed',
  upstream_timeout: 'timed-out',
  upstream_rate_limited: 'rate-limited',
  upstream_credentials_rejected: 'credential-rejected',
  upstream_quota_exhausted: 'model-refused',
  upstream_permission_denied: 'model-refused',
};

/**
 * Statuses after which another attempt may succeed. Cloudflare uses 520 to 524 for an origin that fails, and a vendor
 * uses 529 for overload.
 */
const passingStatuses = new Set([408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);

function kindOfStatus(status: number): FailureKind {
  if (passingStatuses.has(status)) return 'failed';
  if (status === 429) return 'rate-limited';
  if (status === 401 || status === 407) return 'credential-rejected';
  if (status === 402 || status === 403) return 'model-refused';
  return 'answered';
}

/**
 * Objects that the vendor stores and a request names. A refusal of one says nothing about the model or the credential.
 */
const storedWords =
  /cached ?contents?\b|\bfiles?\b.{0,120}\b(?:not exist|not found|permission)|(?:permission|access).{0,60}\b(?:file|container|vector store|prompt|skill)\b/i;

/**
 * @param upstreamStatus the status of the upstream's answer; undefined without an answer. A 200 may contain an error,
 * which then has a status of its own
 * @param words the code and the message of its error body, if that body is passed on unchanged
 */
function classifyFailure(error: GatewayError, upstreamStatus: number | undefined, words: string = error.message): FailureKind {
  const kind = classify(error, upstreamStatus);
  return kind === 'model-refused' && error.code !== 'upstream_quota_exhausted' && storedWords.test(words) ? 'answered' : kind;
}

function classify(error: GatewayError, upstreamStatus: number | undefined): FailureKind {
  const refusal = upstreamStatus !== undefined && upstreamStatus >= 400 ? upstreamStatus : undefined;
  if (error.code === 'upstream_error') return kindOfStatus(refusal ?? error.status);
  const kind = kindByCode[error.code] ?? 'own';
  // The upstream's own time limit expired, as its answer says.
  if (kind === 'timed-out' && refusal !== undefined) return 'failed';
  // The status shows how far a refusal reaches. One vendor refuses bad keys with a 400.
  if (kind === 'credential-rejected' && refusal === 403) return 'model-refused';
  return kind;
}

/** The highest number of attempts of a call. */
export const attemptsMax = 3;

/**
 * Bounds of the full jitter before the same target is retried: the first wait, doubled for each further one, and the
 * longest.
 */
const errorWaitMs = 100;
const rateLimitWaitMs = 500;
const waitMsMax = 5000;
/** The gateway does not wait longer for an upstream: its answer goes to the client. */
export const namedWaitMsMax = 10_000;

export type FailedAttempt = {
  readonly error: GatewayError;
  /** Absent if the upstream gave no answer. */
  readonly upstreamStatus?: number | undefined;
  /** The code and the message of the upstream's error body, if that body is passed on unchanged. */
  readonly upstreamWords?: string | undefined;
  /** The wait that the upstream's headers ask for (see parseRetryAfter). */
  readonly retryAfterMs?: number | undefined;
  /** Whether the upstream says that retries are useless (see forbidsRetry). */
  readonly isRetryForbidden?: boolean;
  /** The number of the attempt in its call, from 1. */
  readonly attempt: number;
  /** Whether the client received any of the reply. */
  readonly isDelivered: boolean;
  readonly hasClientLeft: boolean;
  /** Whether the operator lets another upstream answer what a content filter refused. Absent: no. */
  readonly mayPassFilter?: boolean;
};

/** The targets that a retry may use: any, untried ones first; or only targets that differ in what failed. */
export type RetryReach = 'any-target' | 'other-target' | 'other-credential' | 'other-upstream';

/** `verdict` is the result for the target's health, with or without a retry. */
export type RetryDecision =
  | { readonly verdict: AttemptVerdict; readonly retry: false }
  | {
      readonly verdict: AttemptVerdict;
      readonly retry: true;
      /** The possible targets (see isWithinReach). Without a usable one there is no retry. */
      readonly reach: RetryReach;
      /** The wait before the same target is retried, or one that is not healthy. A healthy target is called at once. */
      readonly waitMs: number;
      /**
       * The cost in the budget of the receiving upstream. A time-out costs more, because its upstream may have done the
       * work.
       */
      readonly cost: 5 | 10;
    };

const verdicts: Readonly<Record<Exclude<FailureKind, 'rate-limited' | 'failed' | 'timed-out'>, AttemptVerdict>> = {
  answered: { type: 'answered' },
  filtered: { type: 'answered' },
  own: { type: 'unknown' },
  'credential-rejected': { type: 'rejected', reach: 'credential' },
  'model-refused': { type: 'rejected', reach: 'model' },
};

const reaches: Readonly<Partial<Record<FailureKind, RetryReach>>> = {
  failed: 'any-target',
  'rate-limited': 'any-target',
  // The same target would use as much time again.
  'timed-out': 'other-target',
  'credential-rejected': 'other-credential',
  'model-refused': 'other-credential',
};

/**
 * Decides what follows a failed attempt. A retry requires that nothing was delivered, that the client is connected, and
 * that another attempt can avoid the failure. The budget and the total time of the call are the caller's to check.
 * @param random numbers from 0 to below 1
 */
export function decideRetry(failure: FailedAttempt, random: () => number): RetryDecision {
  const kind = classifyFailure(failure.error, failure.upstreamStatus, failure.upstreamWords);
  const namedMs = namedWaitMs(failure);
  const verdict = judge(kind, namedMs, failure);
  const reach = reachOf(kind, namedMs, failure);
  if (reach === undefined) return { verdict, retry: false };
  return { verdict, retry: true, reach, waitMs: waitMsOf(kind, namedMs, failure.attempt, random), cost: kind === 'timed-out' ? 10 : 5 };
}

/** The wait that the upstream asks for. Some write it in the body, from which the error was read. */
function namedWaitMs({ error, retryAfterMs, upstreamStatus }: FailedAttempt): number | undefined {
  // Without an answer it is the gateway's own advice to its client.
  if (retryAfterMs !== undefined || upstreamStatus === undefined || error.retryAfterSeconds === undefined) return retryAfterMs;
  return error.retryAfterSeconds * 1000;
}

function judge(kind: FailureKind, namedMs: number | undefined, { hasClientLeft, error, upstreamStatus }: FailedAttempt): AttemptVerdict {
  if (hasClientLeft) return verdicts.own;
  if (kind === 'failed' || kind === 'timed-out') return { type: 'failed', cause: causeOf(error, upstreamStatus) };
  if (kind !== 'rate-limited') return verdicts[kind];
  return { type: 'rate-limited', ...(namedMs === undefined ? {} : { retryAfterMs: namedMs }) };
}

function causeOf({ code }: GatewayError, upstreamStatus: number | undefined): FailureCause {
  if (code === 'upstream_unreachable' && upstreamStatus === undefined) return 'connection';
  return upstreamStatus === undefined && (code === 'upstream_connection_error' || code === 'upstream_timeout') ? 'silence' : 'reply';
}

function reachOf(kind: FailureKind, namedMs: number | undefined, failure: FailedAttempt): RetryReach | undefined {
  if (failure.isDelivered || failure.hasClientLeft || failure.attempt >= attemptsMax) return undefined;
  if (kind === 'filtered') return failure.mayPassFilter === true ? 'other-upstream' : undefined;
  const reach = reaches[kind];
  if (reach === undefined) return undefined;
  // The upstream speaks for itself, and not for others.
  if (failure.isRetryForbidden === true) return 'other-upstream';
  return reach === 'any-target' && namedMs !== undefined && namedMs > namedWaitMsMax ? 'other-target' : reach;
}

function waitMsOf(kind: FailureKind, namedMs: number | undefined, attempt: number, random: () => number): number {
  if (kind === 'credential-rejected' || kind === 'model-refused' || kind === 'filtered') return 0;
  if (namedMs !== undefined && namedMs <= namedWaitMsMax) return namedMs;
  const firstMs = kind === 'rate-limited' ? rateLimitWaitMs : errorWaitMs;
  return random() * Math.min(waitMsMax, firstMs * 2 ** (attempt - 1));
}

/** Whether a retry may go to `next` after `failed` failed. */
export function isWithinReach(reach: RetryReach, failed: HealthSubject, next: HealthSubject): boolean {
  if (reach === 'any-target' || next.upstreamId !== failed.upstreamId) return true;
  if (reach === 'other-upstream') return false;
  if (next.credentialId !== failed.credentialId) return true;
  return reach === 'other-target' && next.upstreamModel !== failed.upstreamModel;
}
