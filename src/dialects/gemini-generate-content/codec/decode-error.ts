import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { errorStatusOf, isOutOfCredit, wordsOfError } from '../../error-status.ts';
import {
  classifyStatus,
  createFilterError,
  createOverflowError,
  createUpstreamError,
  isKeyRefusal,
  messageCharactersMax,
  type UpstreamError,
} from '../../upstream-error.ts';

/** Reads the seconds of the vendor's `"34.4s"`. */
function readRetryDelay(error: JsonObject): number | undefined {
  for (const detail of objectsOf(error.details)) {
    const match = /^(\d+(?:\.\d+)?)s$/.exec(textOf(detail.retryDelay) ?? '');
    if (match !== null) return Math.ceil(Number(match[1]));
  }
  return undefined;
}

const isKeyProblem = (error: JsonObject, message: string): boolean =>
  objectsOf(error.details).some(({ reason }) => reason === 'API_KEY_INVALID' || reason === 'API_KEY_SERVICE_BLOCKED') ||
  /^api key (?:not valid|expired)/i.test(message);

/** The vendor answers an account without credit like an exceeded rate; only the message differs. */
const saysOutOfCredit = (message: string): boolean =>
  /credits? (?:are|is|have been) depleted|spending (?:cap|limit)|billing (?:is|has been) disabled/i.test(message);

function classify(upstreamError: UpstreamError, error: JsonObject): ErrorCode {
  const { status, message, words } = upstreamError;
  if (isKeyRefusal(upstreamError)) return 'upstream_credentials_rejected';
  if ((status === 400 || status === 403) && isKeyProblem(error, message)) return 'upstream_credentials_rejected';
  if (isOutOfCredit(status, words) || (status === 429 && saysOutOfCredit(message))) return 'upstream_quota_exhausted';
  // CANCELLED, in the vendor's numbers.
  return status === 499 ? 'upstream_timeout' : classifyStatus(status);
}

/**
 * Messages of failures and limits are about the vendor's projects and machines; messages of these codes are about the
 * request.
 */
const aboutRequest: ReadonlySet<ErrorCode> = new Set(['upstream_refused_request', 'upstream_permission_denied', 'request_too_large']);

/**
 * Classifies an error of a server of this dialect by its status, and by the vendor's text if a status has several
 * meanings.
 */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  // The answer of a stream that failed at the beginning is an array with the error.
  const error = membersOf(membersOf(Array.isArray(body) ? body[0] : body).error);
  const upstreamError: UpstreamError = {
    // An error inside a 200 contains its own status.
    status: status >= 400 ? status : (errorStatusOf(error.code) ?? 500),
    message: (filledText(error.message) ?? '').slice(0, messageCharactersMax),
    words: wordsOfError(error),
    retryAfterSeconds: retryAfterSeconds ?? readRetryDelay(error),
  };
  const kind = classify(upstreamError, error);
  return (
    createOverflowError(upstreamError) ??
    createFilterError({ error }, upstreamError) ??
    createUpstreamError(kind, aboutRequest.has(kind) ? upstreamError : { ...upstreamError, message: '' })
  );
}
