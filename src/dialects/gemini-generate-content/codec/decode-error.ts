import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import { filledText, membersOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { errorStatusOf, isOutOfCredit, wordsOfError } from '../../error-status.ts';
import {
  classifyStatus,
  createOverflowError,
  createUpstreamError,
  isKeyRefusal,
  messageCharactersMax,
  type UpstreamError,
} from '../../upstream-error.ts';

/** Seconds out of the vendor's `"34.4s"`. */
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

/** The vendor answers an account without credit like a rate that was exceeded, and only its message differs. */
const saysOutOfCredit = (message: string): boolean =>
  /credits? (?:are|is|have been) depleted|spending (?:cap|limit)|billing (?:is|has been) disabled/i.test(message);

function classify(said: UpstreamError, error: JsonObject): ErrorCode {
  const { status, message, words } = said;
  if (isKeyRefusal(said)) return 'upstream_credentials_rejected';
  if ((status === 400 || status === 403) && isKeyProblem(error, message)) return 'upstream_credentials_rejected';
  if (isOutOfCredit(status, words) || (status === 429 && saysOutOfCredit(message))) return 'upstream_quota_exhausted';
  // CANCELLED, in the vendor's numbering.
  return status === 499 ? 'upstream_timeout' : classifyStatus(status);
}

/** Of failures and limits the vendor says what concerns its projects and machines; of the request, what is wrong with it. */
const aboutRequest: ReadonlySet<ErrorCode> = new Set(['upstream_refused_request', 'upstream_permission_denied', 'request_too_large']);

/** Classes the answer of a server of this dialect by its status, and by the vendor's words where one status says several things. */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  // A stream that failed before it began answers with an array that holds the error.
  const error = membersOf(membersOf(Array.isArray(body) ? body[0] : body).error);
  const said: UpstreamError = {
    // An error inside a 200 names its status itself.
    status: status >= 400 ? status : (errorStatusOf(error.code) ?? 500),
    message: (filledText(error.message) ?? '').slice(0, messageCharactersMax),
    words: wordsOfError(error),
    retryAfterSeconds: retryAfterSeconds ?? readRetryDelay(error),
  };
  const kind = classify(said, error);
  return createOverflowError(said) ?? createUpstreamError(kind, aboutRequest.has(kind) ? said : { ...said, message: '' });
}
