import { GatewayError, type ErrorCode, type GatewayErrorOptions } from '../../../inference/gateway-error.ts';
import { filledText, numberOf, objectOf, objectsOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';

const messageCharactersMax = 2000;

/** An error body; the array of a stream that failed before it began holds one. */
function readError(body: unknown): JsonObject {
  const holder: unknown = Array.isArray(body) ? body[0] : body;
  return (isJsonObject(holder) ? objectOf(holder.error) : undefined) ?? {};
}

/** Seconds out of the vendor's `"34.4s"`. */
function readRetryDelay(error: JsonObject): number | undefined {
  for (const detail of objectsOf(error.details)) {
    const match = /^(\d+(?:\.\d+)?)s$/.exec(filledText(detail.retryDelay) ?? '');
    if (match !== null) return Math.ceil(Number(match[1]));
  }
  return undefined;
}

/** The numbers of "The input token count (210000) exceeds the maximum number of tokens allowed (200000).", also without the brackets. */
function readOverflow(message: string): Readonly<Record<string, number>> | undefined {
  if (!/token count.{0,40}exceeds the maximum|exceeds the (?:maximum )?(?:context|input token limit)|input is too long/i.test(message))
    return undefined;
  const count = (pattern: RegExp): number | undefined => {
    const digits = pattern.exec(message)?.[1];
    return digits === undefined ? undefined : Number(digits.replaceAll(',', ''));
  };
  const tokens = count(/token count[^\d]{0,20}([\d,]+)/i);
  const tokensMax = count(/(?:allowed|limit)[^\d]{0,20}([\d,]+)/i);
  return { ...(tokens === undefined ? {} : { tokens }), ...(tokensMax === undefined ? {} : { tokensMax }) };
}

const isKeyProblem = (error: JsonObject): boolean =>
  objectsOf(error.details).some(({ reason }) => reason === 'API_KEY_INVALID' || reason === 'API_KEY_SERVICE_BLOCKED') ||
  /^api key (?:not valid|expired)/i.test(filledText(error.message) ?? '');

/** An account without credit is answered like a rate that was exceeded, and only the words differ. */
const isOutOfCredit = (message: string): boolean =>
  /credits? (?:are|is|have been) depleted|spending (?:cap|limit)|billing (?:is|has been) disabled/i.test(message);

const ownMessages: Partial<Record<ErrorCode, string>> = {
  upstream_credentials_rejected: "The model server rejected the gateway's credentials.",
  upstream_quota_exhausted: "The gateway's account at the model server has no credit left.",
  upstream_timeout: 'The model server did not answer in time.',
  upstream_overloaded: 'The model is overloaded. Please try again later.',
  upstream_rate_limited: 'The model server limits the rate of requests. Please try again later.',
  upstream_error: 'The model server failed.',
};

const codes: Readonly<Record<number, ErrorCode>> = {
  401: 'upstream_credentials_rejected',
  402: 'upstream_quota_exhausted',
  403: 'upstream_credentials_rejected',
  404: 'upstream_model_not_found',
  408: 'upstream_timeout',
  413: 'request_too_large',
  429: 'upstream_rate_limited',
  499: 'upstream_timeout',
  503: 'upstream_overloaded',
  504: 'upstream_timeout',
  529: 'upstream_overloaded',
};

/**
 * The vendor's message is for the client where it speaks of the request; of keys, accounts and failures it says nothing that the client
 * could use.
 */
function createError(code: ErrorCode, message: string, options: GatewayErrorOptions = {}): GatewayError {
  return new GatewayError(code, ownMessages[code] ?? message.slice(0, messageCharactersMax), options);
}

/** Classes the answer of a server of this dialect by its status, and by the vendor's words where one status says several things. */
export function decodeError(reply: UpstreamErrorReply): GatewayError {
  const error = readError(reply.body);
  const code = numberOf(error.code);
  // An error inside a 200 names its status itself.
  const status = reply.status >= 400 ? reply.status : code !== undefined && code >= 400 && code <= 599 ? code : 502;
  const message = filledText(error.message) ?? 'The model server refused the request.';
  const overflow = status === 400 || status === 413 ? readOverflow(message) : undefined;
  if (overflow !== undefined) return createError('context_length_exceeded', message, { details: overflow });
  if (status === 400 && isKeyProblem(error)) return createError('upstream_credentials_rejected', message);
  if (status === 429 && isOutOfCredit(message)) return createError('upstream_quota_exhausted', message);
  const retryAfterSeconds = reply.retryAfterSeconds ?? readRetryDelay(error);
  const retry = retryAfterSeconds === undefined ? {} : { retryAfterSeconds };
  const known = codes[status];
  if (known !== undefined)
    return createError(known, message, known === 'upstream_rate_limited' || known === 'upstream_overloaded' ? retry : {});
  if (status >= 500) return createError('upstream_error', message, { status: 500 });
  return createError('upstream_refused_request', message);
}
