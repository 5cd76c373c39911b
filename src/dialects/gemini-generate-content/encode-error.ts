import type { ExceededLimit, ExceededSpend, GatewayError } from '../../inference/gateway-error.ts';
import type { StreamFraming } from '../../platform/frames.ts';
import { encodeSse } from '../../platform/sse/encode-sse.ts';
import type { HttpReply, StreamErrorOptions } from '../error-voice.ts';
import { encodeErrorReply } from '../encode-error-reply.ts';

/** Status names of contract C, section 7, and those of google.rpc for the statuses it does not list. */
const statusNames: Readonly<Record<number, string>> = {
  400: 'INVALID_ARGUMENT',
  401: 'UNAUTHENTICATED',
  403: 'PERMISSION_DENIED',
  404: 'NOT_FOUND',
  405: 'UNIMPLEMENTED',
  408: 'DEADLINE_EXCEEDED',
  409: 'ABORTED',
  413: 'PAYLOAD_TOO_LARGE',
  415: 'INVALID_ARGUMENT',
  426: 'FAILED_PRECONDITION',
  429: 'RESOURCE_EXHAUSTED',
  499: 'CANCELLED',
  501: 'UNIMPLEMENTED',
  503: 'UNAVAILABLE',
  504: 'DEADLINE_EXCEEDED',
};

const wordStatus = (status: number): string => statusNames[status] ?? (status >= 500 ? 'INTERNAL' : 'INVALID_ARGUMENT');

const rpc = 'type.googleapis.com/google.rpc';

const quotas = {
  requests: { metric: 'generate_content_requests', id: 'GenerateRequestsPerMinutePer' },
  tokens: { metric: 'generate_content_token_count', id: 'GenerateContentTokensPerMinutePer' },
  concurrency: { metric: 'generate_content_concurrent_requests', id: 'GenerateConcurrentRequestsPer' },
} as const;

const scopes = { key: 'ApiKey', user: 'User', team: 'Team', organization: 'Organization', model: 'Model' } as const;

/**
 * Writes the quota in the vendor's form. Programs read from the id whether it is per minute, which is worth waiting
 * for, or per day.
 */
function createQuotaFailure({ scope, of, limit }: ExceededLimit): object {
  const { metric, id } = quotas[of];
  const quotaMetric = `generativelanguage.googleapis.com/${metric}`;
  return { '@type': `${rpc}.QuotaFailure`, violations: [{ quotaMetric, quotaId: `${id}${scopes[scope]}`, quotaValue: String(limit) }] };
}

/** The id contains the period, from which programs read whether waiting helps. The amount is in USD. */
const spendQuotaIds = { day: 'SpendPerDayPer', month: 'SpendPerMonthPer', total: 'SpendPer' } as const;

function createSpendFailure({ scope, period, limitUsd }: ExceededSpend): object {
  const quotaId = `${spendQuotaIds[period]}${scopes[scope]}`;
  const quotaMetric = 'generativelanguage.googleapis.com/generate_content_spend';
  return { '@type': `${rpc}.QuotaFailure`, violations: [{ quotaMetric, quotaId, quotaValue: limitUsd }] };
}

/** Writes structured details: programs read the reason of a refused key, the retry delay, and the wrong field. */
function createDetails(error: GatewayError): readonly object[] {
  const details: object[] = [];
  if (error.class === 'authentication') {
    const service = 'generativelanguage.googleapis.com';
    details.push({ '@type': `${rpc}.ErrorInfo`, reason: 'API_KEY_INVALID', domain: 'googleapis.com', metadata: { service } });
  }
  if (error.class === 'invalid_request' && error.param !== undefined) {
    details.push({ '@type': `${rpc}.BadRequest`, fieldViolations: [{ field: error.param, description: error.message }] });
  }
  if (error.exceededLimit !== undefined) details.push(createQuotaFailure(error.exceededLimit));
  if (error.exceededSpend !== undefined) details.push(createSpendFailure(error.exceededSpend));
  if (error.retryAfterSeconds !== undefined) {
    details.push({ '@type': `${rpc}.RetryInfo`, retryDelay: `${error.retryAfterSeconds}s` });
  }
  return details;
}

/** Agents recognise this text and shorten the conversation. */
function wordOverflow({ details }: GatewayError): string {
  const count = (value: unknown): string => (typeof value === 'number' ? ` (${value})` : '');
  return `The input token count${count(details?.tokens)} exceeds the maximum number of tokens allowed${count(details?.tokensMax)}.`;
}

function wordMessage(error: GatewayError): string {
  if (error.code === 'context_length_exceeded') return wordOverflow(error);
  const model = error.details?.model;
  if (error.code !== 'model_not_found' || typeof model !== 'string') return error.message;
  const name = model.includes('/') ? model : `models/${model}`;
  return `${name} is not found for API version v1beta, or is not supported for generateContent. Call ModelService.ListModels to see the list of available models and their supported methods.`;
}

/** The contract has no 402: an unpaid request is 403, like any exhausted quota (section 7). */
const statusOf = ({ status }: GatewayError): number => (status === 402 ? 403 : status);

function createErrorBody(error: GatewayError): object {
  const details = createDetails(error);
  return {
    error: {
      code: statusOf(error),
      message: wordMessage(error),
      status: wordStatus(statusOf(error)),
      ...(details.length > 0 && { details }),
    },
  };
}

/**
 * Writes an error as an HTTP answer: `{"error":{"code","message","status","details"}}`. A client that requested an
 * array of chunks gets it in an array, like at the vendor. `details.model` of the error names the missing model.
 */
export function encodeError(error: GatewayError, requestId: string, framing?: StreamFraming): HttpReply {
  const json = JSON.stringify(createErrorBody(error));
  const body = framing === 'json-array' ? `[${json}]` : json;
  return { ...encodeErrorReply(error, requestId, body, { contentType: 'application/json; charset=UTF-8' }), status: statusOf(error) };
}

/** Ends a broken stream with an error as one more event, or as the last element of the array. */
export function encodeStreamError(error: GatewayError, { framing, framesSent }: StreamErrorOptions): Buffer {
  const json = JSON.stringify(createErrorBody(error));
  if (framing === 'sse') return encodeSse({ data: json, newline: '\r\n' });
  return Buffer.from(`${framesSent === 0 ? '[' : ',\r\n'}${json}\r\n]`);
}

/**
 * Returns bytes that keep a silent stream alive. SDKs of this dialect do not support comments in a stream (older ones
 * fail at its end), but all of them skip a chunk without candidates. White space between the elements of an array means
 * nothing.
 */
export function heartbeat(framing: StreamFraming): Buffer {
  return Buffer.from(framing === 'sse' ? 'data: {"usageMetadata":{}}\r\n\r\n' : '\n');
}
