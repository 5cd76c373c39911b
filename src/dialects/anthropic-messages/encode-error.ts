import type { GatewayError } from '../../inference/gateway-error.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { HttpReply, StreamErrorOptions } from '../chat-dialect.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';

/**
 * The error type of each status. 500 is the contract's `server_error` where the vendor writes `api_error`; 503 takes the vendor's word
 * for "try again later", and keeps its status.
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

/** What the vendor's SDK reads to go on without threads. */
const threadUnsupportedDetails = { error_code: 'thread_unsupported_request', unsupported: ['thread'] };

/** Writes an error as a whole reply: the vendor's envelope and type words with the contract's `code` beside them. */
export function encodeError(error: GatewayError, requestId: string): HttpReply {
  return encodeErrorReply(error, requestId, JSON.stringify(encodeErrorBody(error, requestId)), { requestIdHeader: 'request-id' });
}

/** Writes the event that ends a broken stream. No `message_stop` follows: a client must not take the text so far as the whole answer. */
export function encodeStreamError(error: GatewayError, options: StreamErrorOptions): Buffer {
  return encodeSse({ event: 'error', data: JSON.stringify(encodeErrorBody(error, options.requestId)) });
}

function encodeErrorBody(error: GatewayError, requestId: string): object {
  const details = error.details ?? (error.code === 'thread_unsupported' ? threadUnsupportedDetails : undefined);
  const type = errorTypeByStatus[error.status] ?? (error.status >= 500 ? 'server_error' : 'invalid_request_error');
  return {
    type: 'error',
    error: { type, message: error.message, code: error.code, ...(details !== undefined && { details }) },
    request_id: requestId,
  };
}
