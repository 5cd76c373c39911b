import type { GatewayError } from '../inference/gateway-error.ts';
import type { HttpReply } from './error-voice.ts';

/** The vendor's header for the id of a request, and the content type of its errors. */
type ErrorReplyOptions = { readonly requestIdHeader?: string; readonly contentType?: string };

/**
 * Builds the HTTP reply of an error whose body a dialect has written. Headers of the error come first, so that they
 * cannot override the content type or length.
 */
export function encodeErrorReply(error: GatewayError, requestId: string, json: string, options: ErrorReplyOptions = {}): HttpReply {
  return {
    status: error.status,
    headers: {
      ...error.headers,
      ...(error.retryAfterSeconds !== undefined && { 'retry-after': String(error.retryAfterSeconds) }),
      'content-type': options.contentType ?? 'application/json',
      [options.requestIdHeader ?? 'x-request-id']: requestId,
    },
    body: Buffer.from(json),
  };
}
