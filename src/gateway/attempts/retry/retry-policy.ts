import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import type { AttemptVerdict, FailureCause, HealthSubject } from '../health/health.ts';

/**
 * What kind of failure an attempt met. `answered`: the upstream did its work, or the fault is in the request, and another would say the same. `own`: the
 * gateway's own error, which says nothing of an upstream. `timed-out`: the gateway's patience ended. `credential-rejected`: the credential is good for
 * nothing there. `model-refused`: it is not good for this model, or not for what this request costs.
 */
type FailureKind = 'answered' | 'own' | 'failed' | 'timed-out' | 'rate-limited' | 'credential-rejected' | 'model-refused';

/** The codes that tell of an upstream. All others are the gateway's own words. */
const kindByCode: Readonly<Partial<Record<ErrorCode, FailureKind>>> = {
  context_length_exceeded: 'answered',
  request_too_large: 'answered',
  upstream_refused_request: 'answered',
  upstream_model_not_found: 'answered',
  // The model's answer is what is too large: asking again would be paid again.
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

/** What another attempt may turn into an answer. 520 to 524 are Cloudflare's words for an origin that fails, 529 is a vendor's for being overloaded. */
const passingStatuses = new Set([408, 500, 502, 503, 504, 520, 521, 522, 523, 524, 529]);

function kindOfStatus(status: number): FailureKind {
  if (passingStatuses.has(status)) return 'failed';
  if (status === 429) return 'rate-limited';
  if (status === 401 || status === 407) return 'credential-rejected';
  if (status === 402 || status === 403) return 'model-refused';
  return 'answered';
}

/** Things that a request names and the vendor keeps: whether it may have them says nothing of the model or the credential. */
const storedWords =
  /cached ?contents?\b|\bfiles?\b.{0,120}\b(?:not exist|not found|permission)|(?:permission|access).{0,60}\b(?:file|container|vector store|prompt|skill)\b/i;

/**
 * @param upstreamStatus of the upstream's answer; undefined where it gave none. A 200 may hold an error, which then names its status itself
 * @param words the code and the message of its error body, where it goes on as it is
 */
function classifyFailure(error: GatewayError, upstreamStatus: number | undefined, words: string = error.message): FailureKind {
  const kind = classify(error, upstreamStatus);
  return kind === 'model-refused' && error.code !== 'upstream_quota_exhausted' && storedWords.test(words) ? 'answered' : kind;
}

/** @param upstreamStatus of the upstream's answer; undefined where it gave none. A 200 may hold an error, which then names its status itself */
function classify(error: GatewayError, upstreamStatus: number | undefined): FailureKind {
  const refusal = upstreamStatus !== undefined && upstreamStatus >= 400 ? upstreamStatus : undefined;
  if (error.code === 'upstream_error') return kindOfStatus(refusal ?? error.status);
  const kind = kindByCode[error.code] ?? 'own';
  // The upstream's own patience ended, and it says so.
  if (kind === 'timed-out' && refusal !== undefined) return 'failed';
  // How far a refusal reaches is in its status. One vendor refuses bad keys with a 400.
  if (kind === 'credential-rejected' && refusal === 403) return 'model-refused';
  return kind;
}

/** How many attempts a call may make. */
export const attemptsMax = 3;

/** Bounds of the full jitter before the same target is tried again: the first time, doubled each further time, and at most. */
const errorWaitMs = 100;
const rateLimitWaitMs = 500;
const waitMsMax = 5000;
/** An upstream that wants more time than this is not waited for: its answer goes to the client. */
export const namedWaitMsMax = 10_000;

/** An attempt that failed. */
export type FailedAttempt = {
  readonly error: GatewayError;
  /** The status of the upstream's answer; absent where it gave none. */
  readonly upstreamStatus?: number;
  /** The code and the message of the upstream's error body, where that goes on as it is. */
  readonly upstreamWords?: string;
  /** What the upstream said in its headers (see parseRetryAfter). */
  readonly retryAfterMs?: number;
  /** Whether the upstream said that it is no use (see forbidsRetry). */
  readonly isRetryForbidden?: boolean;
  /** Which attempt of the call it was, from 1. */
  readonly attempt: number;
  /** Whether anything of the reply was handed to the client. */
  readonly isDelivered: boolean;
  readonly hasClientLeft: boolean;
};

/** Which targets may be tried after a failure: any, those first that have not been tried; or only such as differ in what failed. */
export type RetryReach = 'any-target' | 'other-target' | 'other-credential' | 'other-upstream';

/** `verdict`: what the attempt says of its target's health, whether there is a retry or not. */
export type RetryDecision =
  | { readonly verdict: AttemptVerdict; readonly retry: false }
  | {
      readonly verdict: AttemptVerdict;
      readonly retry: true;
      /** Where to (see isWithinReach). Where nothing usable is within it there is no retry. */
      readonly reach: RetryReach;
      /** Before the same target is tried again, or one that is not healthy. Another that is healthy is tried at once. */
      readonly waitMs: number;
      /** What it takes of the budget of the upstream that it goes to. A time-out is dearer: its upstream may have done the work. */
      readonly cost: 5 | 10;
    };

const verdicts: Readonly<Record<Exclude<FailureKind, 'rate-limited' | 'failed' | 'timed-out'>, AttemptVerdict>> = {
  answered: { type: 'answered' },
  own: { type: 'unknown' },
  'credential-rejected': { type: 'rejected', reach: 'credential' },
  'model-refused': { type: 'rejected', reach: 'model' },
};

const reaches: Readonly<Partial<Record<FailureKind, RetryReach>>> = {
  failed: 'any-target',
  'rate-limited': 'any-target',
  // The same target would use up as much time once more.
  'timed-out': 'other-target',
  'credential-rejected': 'other-credential',
  'model-refused': 'other-credential',
};

/**
 * Decides what follows a failed attempt. The rules are those of one layer of retries: nothing of the reply may have been delivered, its client must be there,
 * and the failure must be one that another attempt can mend. Whether the budget and the call's total time allow it is for the caller to ask.
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

/** What the upstream wants to be waited for. Some say it in the body, and it is in the error that was read out of that. */
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
  const reach = reaches[kind];
  if (reach === undefined) return undefined;
  // The upstream speaks for itself; it knows nothing of others.
  if (failure.isRetryForbidden === true) return 'other-upstream';
  return reach === 'any-target' && namedMs !== undefined && namedMs > namedWaitMsMax ? 'other-target' : reach;
}

function waitMsOf(kind: FailureKind, namedMs: number | undefined, attempt: number, random: () => number): number {
  if (kind === 'credential-rejected' || kind === 'model-refused') return 0;
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
