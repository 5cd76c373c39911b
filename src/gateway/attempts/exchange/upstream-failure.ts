import type { ErrorInReply } from '../../../dialects/chat-dialect.ts';
import { classifyStatus } from '../../../dialects/upstream-error.ts';
import { type ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import { scrubText } from './pass-headers.ts';
import type { AnyExchange, UndeliveredFailure } from './exchange-context.ts';
import { CredentialError } from '../../../upstreams/credentials/credential-source.ts';
import type { Target } from '../routing/target.ts';

/**
 * Clients retry a failed stream if its message contains such words. Some of them treated "The upstream broke off." as
 * final.
 */
const terminatedEarly = 'Upstream connection error: the stream was terminated early.';

function code(error: unknown): string {
  if (typeof error !== 'object' || error === null || !('code' in error)) return '';
  return typeof error.code === 'string' ? error.code : '';
}

const proxyFailures = new Set(['PROXY_REFUSED', 'PROXY_UNREACHABLE']);

const unreachable = new Set([
  ...proxyFailures,
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'ETIMEDOUT',
  'CONNECT_TIMEOUT',
  'CERT_HAS_EXPIRED',
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'ERR_TLS_CERT_ALTNAME_INVALID',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'CERT_NOT_YET_VALID',
  'CERT_REVOKED',
  'CERT_SIGNATURE_FAILURE',
  'EPROTO',
  'EHOSTDOWN',
  'ENETDOWN',
  'EADDRNOTAVAIL',
]);

/** The connection was not established: the upstream was unreachable, or the handshake failed. */
function isUnreachable(reason: string): boolean {
  return unreachable.has(reason) || reason.startsWith('ERR_SSL_') || reason.startsWith('ERR_TLS_');
}

/**
 * Words a transport error. The internal part names the upstream; the client's part contains only what the client can
 * act on.
 */
export function describeUpstreamFailure(error: unknown, target: Target, headersArrived: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason = code(error);
  // Only the message names the proxy and its answer.
  const isTold = reason === '' || proxyFailures.has(reason);
  const internal = `${target.upstream.id}: ${isTold ? String(error) : reason}`;
  if (reason === 'AUTHORIZATION_FAILED') return credentialMissing(target, error);
  if (!headersArrived && isUnreachable(reason)) {
    return new GatewayError('upstream_unreachable', 'Upstream connection error: the model service cannot be reached.', {
      internal,
      retryAfterSeconds: 1,
      cause: error,
    });
  }
  if (reason === 'INVALID_HTTP_REPLY') {
    return new GatewayError('upstream_invalid_reply', 'Upstream connection error: the reply was not valid HTTP.', {
      internal,
      cause: error,
    });
  }
  const message = headersArrived ? terminatedEarly : 'Upstream connection error: the connection was closed before a reply came.';
  // A stream that has begun cannot send this header any more.
  return new GatewayError('upstream_connection_error', message, {
    internal,
    cause: error,
    ...(headersArrived ? {} : { retryAfterSeconds: 1 }),
  });
}

/** Nothing was sent, because there is no valid credential: its service does not give one, or it was never there. */
function credentialMissing({ upstream }: Target, error: unknown): GatewayError {
  const message = 'the gateway has no valid credential for the model service at present; try again later, or tell the operator';
  const internal = `${upstream.id}: ${wordMissingCredential(error)}`;
  return new GatewayError('upstream_credentials_rejected', message, { internal, retryAfterSeconds: missingRetrySeconds, cause: error });
}

/** Sources try again after at most half a minute. */
const missingRetrySeconds = 30;

/** Why a credential could not be added. Only the messages of its sources have no secret in them. */
function wordMissingCredential(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined;
  return cause instanceof CredentialError ? cause.message : String(error);
}

/** A body that ended properly for the transport, but before the dialect's own end. */
export function streamCut(target: Target): GatewayError {
  return new GatewayError('upstream_connection_error', terminatedEarly, {
    internal: `${target.upstream.id}: stream ended without its terminal event`,
  });
}

/** The client's error if an upstream rejects the operator's credential. @param internal the upstream's words */
export function credentialRejected({ upstream }: Target, internal: string, cause?: unknown): GatewayError {
  const message = "the model service rejects the gateway's credential; the operator must renew it";
  return new GatewayError('upstream_credentials_rejected', message, { internal: `${upstream.id}: ${internal}`, cause });
}

/**
 * Codes that determine the status: clients receive the status of the code, whatever the upstream wrote, as after a
 * status line.
 */
const telling: ReadonlySet<ErrorCode> = new Set(['upstream_credentials_rejected', 'upstream_rate_limited', 'upstream_overloaded']);
/** Statuses below 500 that describe the upstream and not the request. */
const notOfRequest: ReadonlySet<number> = new Set([402, 403, 407, 408]);

function codeOfErrorInReply({ status = 500, isOutOfCredit, filtered }: ErrorInReply): ErrorCode {
  if (isOutOfCredit === true) return 'upstream_quota_exhausted';
  if (filtered !== undefined) return 'upstream_content_filtered';
  const code = classifyStatus(status);
  if (telling.has(code)) return code;
  return status >= 500 || notOfRequest.has(status) ? 'upstream_error' : 'upstream_refused_request';
}

/**
 * An error that the upstream reported inside a 200. For retries and health it counts like the corresponding status
 * line.
 */
export function describeErrorInReply(error: ErrorInReply | undefined, target: Target): GatewayError {
  const { upstream } = target;
  const reason = scrubText(error?.message ?? 'no reason was given', upstream.apiKey).slice(0, 2000);
  const code = codeOfErrorInReply(error ?? { message: reason });
  const { status } = error ?? {};
  const internal = `says in a 200: ${reason.slice(0, 200)}`;
  if (code === 'upstream_credentials_rejected') return credentialRejected(target, internal);
  if (code === 'upstream_quota_exhausted') {
    const message = "the gateway's account at the model service has no credit left";
    return new GatewayError(code, message, { internal: `${upstream.id}: ${internal}` });
  }
  const found = error?.filtered ?? '';
  const details = found === '' ? {} : { internal: `${upstream.id}: its content filter refused the request (${found})` };
  const withStatus = status === undefined || telling.has(code) ? {} : { status };
  return new GatewayError(code, `the model service answered with an error: ${reason}`, { ...withStatus, ...details });
}

/** The error of an expired time limit. */
export function upstreamTimeout(target: Target, waitedFor: string, limitMs: number): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `Upstream connection error: no ${waitedFor} within ${limitMs >= 1000 ? `${Math.round(limitMs / 1000)} s` : `${limitMs} ms`} (timeout).`,
    {
      internal: `${target.upstream.id}: no ${waitedFor} within ${limitMs} ms`,
    },
  );
}

/** Offers a failed attempt to another one. Without another, the call is settled and its client is answered. */
export function failUndelivered(
  { observer, sink, handOver }: Pick<AnyExchange, 'observer' | 'sink' | 'handOver'>,
  own: GatewayError,
  refusal?: Pick<UndeliveredFailure, 'upstreamStatus' | 'headers'>,
): void {
  const answer = (error = own): void => {
    observer.settled({ end: 'failed', complete: false, error });
    sink.fail(error);
  };
  if (!handOver({ error: own, ...refusal, answer })) answer();
}
