import { type ErrorCode, GatewayError } from '../inference/gateway-error.ts';
import { readFilterRefusal } from './content-filter.ts';
import { readContextOverflow, type ContextOverflow } from './read-context-overflow.ts';

/** An upstream's error answer, in any dialect. */
export type UpstreamError = {
  /** The status of the answer. For an error inside a 200, the status that it names itself. */
  readonly status: number;
  /**
   * The upstream's message, cut to `messageCharactersMax`. Empty if it has none, or none that is useful for a client.
   */
  readonly message: string;
  /** The codes and types that name its kind. */
  readonly words: readonly string[];
  readonly retryAfterSeconds?: number | undefined;
};

/** A longer message of an upstream is cut. */
export const messageCharactersMax = 2000;

const codeByStatus: Readonly<Record<number, ErrorCode | undefined>> = {
  401: 'upstream_credentials_rejected',
  402: 'upstream_quota_exhausted',
  403: 'upstream_permission_denied',
  404: 'upstream_model_not_found',
  408: 'upstream_timeout',
  413: 'request_too_large',
  429: 'upstream_rate_limited',
  503: 'upstream_overloaded',
  504: 'upstream_timeout',
  // Statuses of Cloudflare and of Anthropic.
  524: 'upstream_timeout',
  529: 'upstream_overloaded',
};

/**
 * The class of an error by its status alone. Dialects first use the upstream's codes and message if these are more
 * specific.
 */
export function classifyStatus(status: number): ErrorCode {
  return codeByStatus[status] ?? (status >= 400 && status < 500 ? 'upstream_refused_request' : 'upstream_error');
}

const moderationWords = /flagged|moderation|content[ _]policy|usage guidelines|safety/i;

/** Whether a 403 is about the content of the request. */
export function isModeration({ status, message }: UpstreamError): boolean {
  return status === 403 && moderationWords.test(message);
}

const keyWords =
  /(?:incorrect|invalid|missing|no) api[ _-]?key|api key (?:not valid|expired|is invalid)|invalid[ _](?:authentication|token)/i;

const refusedKeyWords =
  /api[ _-]?key|credential|service account|consumer\b.*suspended|(?:account|organization|project)\b.*\b(?:suspended|disabled|deactivated|blocked)|unregistered callers|reported as leaked|(?:invalid|expired) (?:token|authentication)/i;

/**
 * Whether a 403 is about the credential. All others are about what was requested: a model, a region, a stored object.
 */
export function isKeyRefusal({ status, message, words }: UpstreamError): boolean {
  return status === 403 && (words.includes('invalid_api_key') || refusedKeyWords.test(message));
}

/** Whether a 400 is about the credential: some vendors refuse bad keys with it. */
export function isKeyProblem({ status, message, words }: UpstreamError): boolean {
  return status === 400 && (words.includes('invalid_api_key') || keyWords.test(message));
}

/**
 * Messages for clients that replace the upstream's, because keys, bills and configured names concern only the operator.
 */
const operatorsBusiness: Partial<Record<ErrorCode, string>> = {
  upstream_credentials_rejected: "The model service rejects the gateway's credential; the operator must renew it.",
  upstream_quota_exhausted: "The gateway's account at the upstream of this model has no credit left.",
  upstream_model_not_found: 'The upstream does not know the model that is configured there.',
};

/** Messages for clients if the upstream sent none. */
const defaultWords: Partial<Record<ErrorCode, string>> = {
  context_length_exceeded: 'The request is longer than the context of this model.',
  upstream_timeout: 'The upstream of this model did not answer in time.',
  upstream_overloaded: 'The upstream of this model is overloaded. Retry later.',
  upstream_rate_limited: 'The upstream of this model limits the rate of calls. Retry later.',
  request_too_large: 'The request is larger than the upstream of this model accepts.',
  upstream_permission_denied: 'The upstream of this model does not permit this request.',
  upstream_refused_request: 'The upstream of this model refused the request without giving a reason.',
  upstream_content_filtered: 'The content filter of the upstream of this model refused the request.',
};

/** Names of the operator's account, and anything like a key. The gateway removes the key itself elsewhere. */
const secrets =
  /\b(?:org-|proj_|user-|acct_)[\w-]{6,}|\bprojects?[ /]+[`'"]?[\w-]*\d[\w-]*|\b(?:sk|gsk|xai|pk|rk)-[\w-]{8,}|\bBearer\s+\S+|\bAIza[\w-]{10,}/g;

/** An upstream's message without anything that looks like a key or a name of the operator's account. */
export const hideSecrets = (message: string): string => message.replaceAll(secrets, '…');

/**
 * An error of this class, worded for the client. The upstream's status and hidden message go to the operator's log.
 * @param details members of the error body that client programs read
 */
export function createUpstreamError(code: ErrorCode, error: UpstreamError, details?: ContextOverflow): GatewayError {
  const { status, words, retryAfterSeconds } = error;
  const message = hideSecrets(error.message);
  const own = operatorsBusiness[code];
  const kind = words.length === 0 ? '' : ` (${words.join(', ').slice(0, 100)})`;
  const hidden = own === undefined || message === '' ? '' : `: ${message.slice(0, 200)}`;
  return new GatewayError(code, own ?? (message === '' ? (defaultWords[code] ?? 'The upstream of this model failed.') : message), {
    internal: `the upstream answered ${status}${kind}${hidden}`,
    ...(details === undefined ? {} : { details }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    // A redirect is not the model server's failure. Everything else counts like its 500.
    ...(code === 'upstream_error' ? { status: status >= 300 && status < 400 ? 502 : 500 } : {}),
  });
}

/** The error of a request that the content filter of a service refused. Undefined for all others. */
export function createFilterError(body: unknown, error: UpstreamError): GatewayError | undefined {
  const found = readFilterRefusal(body);
  if (found === undefined) return undefined;
  return createUpstreamError('upstream_content_filtered', found === '' ? error : { ...error, words: [...error.words, found] });
}

/** Statuses with which servers report that a request is too long; 200 is that of an error within a stream. */
const overflowStatuses = new Set([200, 400, 413, 422, 500]);

/**
 * The error of a request that is longer than the model's context. Undefined for all others.
 * @param counts sizes that are stated outside the message; sizes in the message take precedence
 */
export function createOverflowError(error: UpstreamError, counts: ContextOverflow = {}): GatewayError | undefined {
  const overflow = overflowStatuses.has(error.status) ? readContextOverflow(error.message, error.words) : undefined;
  return overflow && createUpstreamError('context_length_exceeded', error, { ...counts, ...overflow });
}
