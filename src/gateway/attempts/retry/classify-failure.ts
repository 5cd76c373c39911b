import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';

/**
 * What kind of failure an attempt met. `answered`: the upstream did its work, or the fault is in the request, and another would say the same. `own`: the
 * gateway's own error, which says nothing of an upstream. `timed-out`: the gateway's patience ended. `credential-rejected`: the credential is good for
 * nothing there. `model-refused`: it is not good for this model, or not for what this request costs.
 */
export type FailureKind = 'answered' | 'own' | 'failed' | 'timed-out' | 'rate-limited' | 'credential-rejected' | 'model-refused';

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
export function classifyFailure(error: GatewayError, upstreamStatus: number | undefined, words: string = error.message): FailureKind {
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
