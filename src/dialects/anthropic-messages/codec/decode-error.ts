import { type ErrorCode, GatewayError, type GatewayErrorOptions } from '../../../inference/gateway-error.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { readError } from '../read-error.ts';
import { readContextOverflow } from './read-context-overflow.ts';

const messageCharactersMax = 2000;

/** What is said of a failure whose words are the operator's business. */
const ownWords = {
  upstream_credentials_rejected: 'The upstream refused the gateway’s credentials for it.',
  upstream_quota_exhausted: 'The gateway’s account at the upstream is out of credit.',
} as const;

/** Type words that tell the class better than the status, which imitating servers choose freely. */
const codeByType: Readonly<Record<string, ErrorCode | undefined>> = {
  overloaded_error: 'upstream_overloaded',
  rate_limit_error: 'upstream_rate_limited',
  billing_error: 'upstream_quota_exhausted',
  authentication_error: 'upstream_credentials_rejected',
  permission_error: 'upstream_credentials_rejected',
  timeout_error: 'upstream_timeout',
  request_too_large: 'request_too_large',
};

const codeByStatus: Readonly<Record<number, ErrorCode | undefined>> = {
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

/** Classes an error answer by the vendor's words first and by its status where they say nothing. */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  const error = isJsonObject(body) ? (body.error ?? body) : body;
  const message = readError(error).message.slice(0, messageCharactersMax);
  const words = isJsonObject(error) ? [error.type, error.code].filter((word) => typeof word === 'string') : [];
  const overflow = status < 500 ? readContextOverflow([...words, message].join(' ')) : undefined;
  if (overflow !== undefined) return new GatewayError('context_length_exceeded', message, { details: overflow });
  const code = classify(status, words, message);
  const options: GatewayErrorOptions = {
    internal: `the upstream answered ${status}`,
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    ...(code === 'upstream_error' ? { status: status >= 500 ? 500 : 502 } : {}),
  };
  if (code === 'upstream_credentials_rejected' || code === 'upstream_quota_exhausted')
    return new GatewayError(code, ownWords[code], options);
  return new GatewayError(code, message, options);
}

function classify(status: number, words: readonly string[], message: string): ErrorCode {
  // The vendor answers 400 when the credit is used up; imitating servers have a code for it.
  if (/credit balance is too low/i.test(message) || words.includes('insufficient_quota')) return 'upstream_quota_exhausted';
  const byType = words.map((word) => (Object.hasOwn(codeByType, word) ? codeByType[word] : undefined)).find((code) => code !== undefined);
  if (byType !== undefined) return byType;
  const byStatus = codeByStatus[status];
  if (byStatus !== undefined) return byStatus;
  return status >= 400 && status < 500 ? 'upstream_refused_request' : 'upstream_error';
}
