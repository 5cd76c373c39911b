import { GatewayError, type GatewayErrorOptions } from '../../../inference/gateway-error.ts';
import { filledText, membersOf } from '../../../platform/json/json-readers.ts';
import type { ReplyHeaders } from '../../../platform/http/reply-head.ts';
import { parseIfJson } from '../../../platform/json/parse-if-json.ts';
import { scrubText } from '../../attempts/exchange/pass-headers.ts';
import { parseRetryAfter } from '../../attempts/retry/parse-retry-after.ts';
import type { Target } from '../../attempts/routing/target.ts';

const refusalCharactersMax = 2000;
const secondMs = 1000;

export type Refusal = { readonly status: number; readonly headers: ReplyHeaders; readonly body: Buffer };

/** Converts an upstream's refusal into an error for the client. It keeps the upstream's message, without secrets. */
export function describeRefusal({ status, headers, body }: Refusal, { upstream }: Target, nowMs: number): GatewayError {
  const internal = `${upstream.id} answered ${status}`;
  if (status === 401 || status === 407) {
    const message = "the model service rejects the gateway's credential; the operator must renew it";
    return new GatewayError('upstream_credentials_rejected', message, { internal });
  }
  const answer = membersOf(parseIfJson(body));
  const error = membersOf(answer['error']);
  const message =
    filledText(error['message']) ?? filledText(answer['error']) ?? filledText(answer['detail']) ?? filledText(answer['message']);
  const words =
    message === undefined ? `the model service answered ${status}` : scrubText(message, upstream.apiKey).slice(0, refusalCharactersMax);
  const param = filledText(error['param'])?.slice(0, 80);
  const code = filledText(error['code'])?.slice(0, 80);
  const options: GatewayErrorOptions = {
    internal,
    ...(param === undefined ? {} : { param }),
    ...(code === undefined ? {} : { details: { openai_code: scrubText(code, upstream.apiKey) } }),
  };
  if (status === 429) return new GatewayError('upstream_rate_limited', words, { ...options, ...retryAdvice(headers, nowMs) });
  if (status === 404) return new GatewayError('upstream_model_not_found', words, options);
  if (status === 413) return new GatewayError('request_too_large', words, options);
  if (status >= 400 && status < 500) return new GatewayError('upstream_refused_request', words, { ...options, status });
  return new GatewayError('upstream_error', words, {
    ...options,
    ...retryAdvice(headers, nowMs),
    status: status >= 500 && status < 600 ? status : 502,
  });
}

function retryAdvice(headers: ReplyHeaders, nowMs: number): { readonly retryAfterSeconds?: number } {
  const ms = parseRetryAfter(headers, nowMs);
  return ms === undefined ? {} : { retryAfterSeconds: Math.ceil(ms / secondMs) };
}
