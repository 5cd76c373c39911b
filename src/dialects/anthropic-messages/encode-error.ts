import type { GatewayError } from '../../inference/gateway-error.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { HttpReply, StreamErrorOptions } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';

/**
 * The error type of each status. For 500, the contract has `server_error` and the vendor `api_error`; 503 uses the
 * vendor's type for a temporary failure and keeps its status.
 */
const errorTypeByStatus: Readonly<Record<number, string | undefined>> = {
  401: 'authentication_error',
  402: 'billing_error',
  403: 'permission_error',
  404: 'not_found_error',
  409: 'conflict_error',
  413: 'request_too_large',
  429: 'rate_limit_error',
  503: 'overloaded_error',
  504: 'timeout_error',
  529: 'overloaded_error',
};

/** The vendor's SDK reads this and continues without threads. */
const threadUnsupportedDetails = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

/** Writes an error as a whole reply: the vendor's envelope and types, with the contract's `code`. */
export function encodeError(error: GatewayError, requestId: string): HttpReply {
  const reply = encodeErrorReply(error, requestId, JSON.stringify(encodeErrorBody(error, requestId)), { requestIdHeader: 'request-id' });
  return isOverloaded(error) ? { ...reply, status: 529 } : reply;
}

/** The vendor's SDKs have a separate status for overload. */
const isOverloaded = ({ code, status }: GatewayError): boolean =>
  (code === 'upstream_overloaded' || code === 'overloaded') && status === 503;

/**
 * Writes the event that ends a broken stream. No `message_stop` follows, because a client must not treat the partial
 * text as the whole answer.
 */
export function encodeStreamError(error: GatewayError, options: StreamErrorOptions): Buffer {
  return encodeSse({ event: 'error', data: JSON.stringify(encodeErrorBody(error, options.requestId)) });
}

function encodeErrorBody(error: GatewayError, requestId: string): object {
  const isOverflow = error.code === 'context_length_exceeded';
  const details = isOverflow ? undefined : (error.details ?? (error.code === 'thread_unsupported' ? threadUnsupportedDetails : undefined));
  const type = errorTypeOf(error.status);
  const message = isOverflow ? wordOverflow(error) : error.message;
  return {
    type: 'error',
    error: { type, message, code: error.code, ...(details !== undefined && { details }) },
    request_id: requestId,
  };
}

/** Finds the type of an error by its status. */
export function errorTypeOf(status: number): string {
  return errorTypeByStatus[status] ?? (status >= 500 ? 'server_error' : 'invalid_request_error');
}

/** Coding agents recognise this prefix, which is the vendor's, and shorten the conversation. */
function wordOverflow({ details, message }: GatewayError): string {
  const { tokens, tokensMax } = details ?? {};
  if (typeof tokens === 'number' && typeof tokensMax === 'number') return `prompt is too long: ${tokens} tokens > ${tokensMax} maximum`;
  return message.startsWith('prompt is too long') ? message : `prompt is too long: ${message}`;
}
