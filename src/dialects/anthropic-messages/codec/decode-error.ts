import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import { filledText, meaningOf, membersOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { isOutOfCredit } from '../../error-status.ts';
import {
  classifyStatus,
  createFilterError,
  createOverflowError,
  createUpstreamError,
  isKeyRefusal,
  messageCharactersMax,
  type UpstreamError,
} from '../../upstream-error.ts';

/** Error types that identify the class better than the status, which imitating servers choose freely. */
const codeByType: Readonly<Record<string, ErrorCode>> = {
  overloaded_error: 'upstream_overloaded',
  rate_limit_error: 'upstream_rate_limited',
  authentication_error: 'upstream_credentials_rejected',
  permission_error: 'upstream_permission_denied',
  timeout_error: 'upstream_timeout',
  request_too_large: 'request_too_large',
};

function classify(error: UpstreamError): ErrorCode {
  const { status, words, message } = error;
  if (isKeyRefusal(error)) return 'upstream_credentials_rejected';
  // The vendor returns 400 if the credit is used up.
  if (isOutOfCredit(status, words) || /credit balance is too low/i.test(message)) return 'upstream_quota_exhausted';
  return words.map((word) => meaningOf(word, codeByType)).find((code) => code !== undefined) ?? classifyStatus(status);
}

/** Classifies an error by the vendor's text first, and by its status if the text does not help. */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  const error = isJsonObject(body) ? (body.error ?? body) : body;
  const { message, type, code } = membersOf(error);
  const upstreamError: UpstreamError = {
    status,
    message: (filledText(error) ?? filledText(message) ?? '').slice(0, messageCharactersMax),
    words: [type, code].flatMap((word) => filledText(word) ?? []),
    retryAfterSeconds,
  };
  return (
    createOverflowError(upstreamError) ??
    createFilterError(body, upstreamError) ??
    createUpstreamError(classify(upstreamError), upstreamError)
  );
}
