import type { ErrorInReply } from '../../../dialects/chat-dialect.ts';
import { classifyStatus } from '../../../dialects/upstream-error.ts';
import { type ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import { scrubText } from './pass-headers.ts';
import type { Target } from '../routing/target.ts';

/** Clients retry a broken stream when its message has such words; "The upstream broke off." was final for some of them. */
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

/** No connection came to be: unreachable, or its handshake failed. */
function isUnreachable(reason: string): boolean {
  return unreachable.has(reason) || reason.startsWith('ERR_SSL_') || reason.startsWith('ERR_TLS_');
}

/** Words a transport error for the client. The internal part names the upstream; the client learns only what it can act on. */
export function describeUpstreamFailure(error: unknown, target: Target, headersArrived: boolean): GatewayError {
  if (error instanceof GatewayError) return error;
  const reason = code(error);
  // Which proxy it was, and what it said, are known to the message alone.
  const isTold = reason === '' || proxyFailures.has(reason);
  const internal = `${target.upstream.id}: ${isTold ? String(error) : reason}`;
  if (reason === 'AUTHORIZATION_FAILED')
    return new GatewayError('upstream_credentials_rejected', operatorsErrors.upstream_credentials_rejected, {
      internal: `${target.upstream.id}: ${String(error)}`,
      cause: error,
    });
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
  // A stream that has begun has no headers left to say it in.
  return new GatewayError('upstream_connection_error', message, {
    internal,
    cause: error,
    ...(headersArrived ? {} : { retryAfterSeconds: 1 }),
  });
}

/** A body that ended properly for the transport, but before the dialect's own end. */
export function streamCut(target: Target): GatewayError {
  return new GatewayError('upstream_connection_error', terminatedEarly, {
    internal: `${target.upstream.id}: stream ended without its terminal event`,
  });
}

/** Words for errors that are the operator's business. */
const operatorsErrors = {
  upstream_credentials_rejected: 'the model service refuses the gateway; its operator has to renew the credential',
  upstream_quota_exhausted: "the gateway's account at the model service has no credit left",
} as const;

/** Codes that say all there is to say: whatever status the upstream wrote, clients read that of the code, as they do where a status line brought it. */
const telling: ReadonlySet<ErrorCode> = new Set(['upstream_credentials_rejected', 'upstream_rate_limited', 'upstream_overloaded']);
/** They tell of the upstream, although they are below 500. */
const notOfRequest: ReadonlySet<number> = new Set([402, 403, 407, 408]);

function codeOfErrorInReply({ status = 500, isOutOfCredit }: ErrorInReply): ErrorCode {
  if (isOutOfCredit === true) return 'upstream_quota_exhausted';
  const code = classifyStatus(status);
  if (telling.has(code)) return code;
  return status >= 500 || notOfRequest.has(status) ? 'upstream_error' : 'upstream_refused_request';
}

/** An error that the upstream reported inside a 200: it decides about retries and health as the status line would that it stands for. */
export function describeErrorInReply(error: ErrorInReply | undefined, { upstream }: Target): GatewayError {
  const said = scrubText(error?.message ?? 'no reason was given', upstream.apiKey).slice(0, 2000);
  const code = codeOfErrorInReply(error ?? { message: said });
  const { status } = error ?? {};
  if (code === 'upstream_credentials_rejected' || code === 'upstream_quota_exhausted')
    return new GatewayError(code, operatorsErrors[code], { internal: `${upstream.id} says in a 200: ${said.slice(0, 200)}` });
  const told = status === undefined || telling.has(code) ? {} : { status };
  return new GatewayError(code, `the model service answered with an error: ${said}`, told);
}

/** A wait that ended. */
export function upstreamTimeout(target: Target, waitedFor: string, limitMs: number): GatewayError {
  return new GatewayError(
    'upstream_timeout',
    `Upstream connection error: no ${waitedFor} within ${limitMs >= 1000 ? `${Math.round(limitMs / 1000)} s` : `${limitMs} ms`} (timeout).`,
    {
      internal: `${target.upstream.id}: no ${waitedFor} within ${limitMs} ms`,
    },
  );
}
