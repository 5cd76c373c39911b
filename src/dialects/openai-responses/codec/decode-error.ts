import { type ErrorCode, GatewayError, type GatewayErrorOptions } from '../../../inference/gateway-error.ts';
import { membersOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { readErrorObject } from '../read-reply.ts';
import { readContextOverflow } from './context-overflow.ts';

const messageCharactersMax = 2000;

/** What clients are told where the vendor's words are the operator's business: keys, accounts, bills. */
const ownWords = {
  upstream_credentials_rejected: "The upstream refused the gateway's credentials.",
  upstream_quota_exhausted: "The gateway's account at the upstream has no credit left.",
} as const;

/** The vendor's codes and types that tell the class better than the status: events have none, and imitating servers choose it freely. */
const codeByWord: Readonly<Record<string, ErrorCode>> = {
  insufficient_quota: 'upstream_quota_exhausted',
  billing_hard_limit_reached: 'upstream_quota_exhausted',
  invalid_api_key: 'upstream_credentials_rejected',
  rate_limit_exceeded: 'upstream_rate_limited',
  model_not_found: 'upstream_model_not_found',
  server_is_overloaded: 'upstream_overloaded',
  slow_down: 'upstream_overloaded',
  overloaded_error: 'upstream_overloaded',
};

const codeByStatus: Readonly<Record<number, ErrorCode>> = {
  401: 'upstream_credentials_rejected',
  402: 'upstream_quota_exhausted',
  403: 'upstream_credentials_rejected',
  404: 'upstream_model_not_found',
  408: 'upstream_timeout',
  413: 'request_too_large',
  429: 'upstream_rate_limited',
  503: 'upstream_overloaded',
  504: 'upstream_timeout',
  529: 'upstream_overloaded',
};

/** The vendor's codes, in events and failed responses, for its own failures. */
const serverWords = new Set(['server_error', 'internal_error', 'internal_server_error', 'vector_store_timeout']);

/** The error object: nested in a body or an event, within a failed response, or flat. */
function findError(body: unknown): unknown {
  const outer: unknown = Array.isArray(body) ? body[0] : body;
  if (!isJsonObject(outer)) return outer;
  const response = membersOf(outer.response);
  return outer.error ?? response.error ?? (typeof outer.detail === 'string' ? outer.detail : outer);
}

const wordsOf = (error: JsonObject): readonly string[] => [textOf(error.code), textOf(error.type)].filter((word) => word !== undefined);

function classify(status: number, words: readonly string[]): ErrorCode {
  for (const word of words) {
    const code = Object.hasOwn(codeByWord, word) ? codeByWord[word] : undefined;
    if (code !== undefined) return code;
  }
  const code = codeByStatus[status];
  if (code !== undefined) return code;
  if (status >= 500 || words.some((word) => serverWords.has(word))) return 'upstream_error';
  // An error event comes with the status 200; what names a fault of the request there is one.
  return status >= 400 || words.length > 0 ? 'upstream_refused_request' : 'upstream_error';
}

/** Classes an error of the vendor, or of a server that imitates it, by its code first and by its status where that says nothing. */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  const error = findError(body);
  const words = isJsonObject(error) ? wordsOf(error) : [];
  const message = readErrorObject(error).message.slice(0, messageCharactersMax);
  const overflow = status < 500 ? readContextOverflow(words, message) : undefined;
  if (overflow !== undefined) return new GatewayError('context_length_exceeded', message, { details: overflow });
  const code = classify(status, words);
  const options: GatewayErrorOptions = {
    internal: `the upstream answered ${status}${words.length === 0 ? '' : ` (${words.join(', ').slice(0, 100)})`}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(code === 'upstream_error' ? { status: 500 } : {}),
  };
  const own = code === 'upstream_credentials_rejected' || code === 'upstream_quota_exhausted' ? ownWords[code] : undefined;
  return new GatewayError(code, own ?? message, options);
}
