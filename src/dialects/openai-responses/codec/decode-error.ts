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
  isKeyProblem,
  isKeyRefusal,
  isModeration,
  messageCharactersMax,
  type UpstreamError,
} from '../../upstream-error.ts';

/**
 * The vendor's codes and types that are more specific than the status: events have none, and imitating servers choose
 * it freely.
 */
const codeByWord: Readonly<Record<string, ErrorCode>> = {
  invalid_api_key: 'upstream_credentials_rejected',
  rate_limit_exceeded: 'upstream_rate_limited',
  model_not_found: 'upstream_model_not_found',
  server_is_overloaded: 'upstream_overloaded',
  slow_down: 'upstream_overloaded',
  overloaded_error: 'upstream_overloaded',
};

/** The vendor's codes for its own failures, in events and failed responses. */
const serverWords = new Set(['server_error', 'internal_error', 'internal_server_error', 'vector_store_timeout']);

/** The error object: nested in a body or an event, inside a failed response, or flat. */
function findError(body: unknown): unknown {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(outer)) return outer;
  return outer.error ?? membersOf(outer.response).error ?? filledText(outer.detail) ?? outer;
}

function classify(error: UpstreamError): ErrorCode {
  const { status, words } = error;
  if (isModeration(error)) return 'upstream_refused_request';
  if (isKeyProblem(error) || isKeyRefusal(error)) return 'upstream_credentials_rejected';
  if (isOutOfCredit(status, words)) return 'upstream_quota_exhausted';
  const byWord = words.map((word) => meaningOf(word, codeByWord)).find((code) => code !== undefined);
  if (byWord !== undefined) return byWord;
  const byStatus = classifyStatus(status);
  if (words.some((word) => serverWords.has(word))) return byStatus === 'upstream_refused_request' ? 'upstream_error' : byStatus;
  // An error event comes with the status 200. A code or type there means a wrong request.
  return status < 400 && words.length > 0 ? 'upstream_refused_request' : byStatus;
}

/**
 * Classifies an error of the vendor, or of a server that imitates it, by its code first and otherwise by its status.
 */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  const source = findError(body);
  const { message, code, type } = membersOf(source);
  const error: UpstreamError = {
    status,
    message: (filledText(source) ?? filledText(message) ?? '').slice(0, messageCharactersMax),
    words: [code, type].flatMap((word) => filledText(word) ?? []),
    retryAfterSeconds,
  };
  return createOverflowError(error) ?? createFilterError({ error: source }, error) ?? createUpstreamError(classify(error), error);
}
