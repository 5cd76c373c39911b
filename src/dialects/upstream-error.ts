import { type ErrorCode, GatewayError } from '../inference/gateway-error.ts';
import { readContextOverflow, type ContextOverflow } from './read-context-overflow.ts';

/** What an upstream's error answer says, whoever wrote it. */
export type SaidError = {
  /** The status of the answer, or where an error stands in a 200, the one that it names itself. */
  readonly status: number;
  /** The upstream's words, cut to `messageCharactersMax`; empty where it has none, or none that a client could use. */
  readonly message: string;
  /** The codes and types by which it names its kind. */
  readonly words: readonly string[];
  readonly retryAfterSeconds?: number | undefined;
};

/** No more of an upstream's words is passed on. */
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
  // Cloudflare's and Anthropic's own.
  524: 'upstream_timeout',
  529: 'upstream_overloaded',
};

/** The class of an error by its status alone. Dialects look at the upstream's words first, where those tell it better. */
export function classifyStatus(status: number): ErrorCode {
  return codeByStatus[status] ?? (status >= 400 && status < 500 ? 'upstream_refused_request' : 'upstream_error');
}

const moderationWords = /flagged|moderation|content[ _]policy|usage guidelines|safety/i;

/** Whether a 403 is about what the request says. */
export function isModeration({ status, message }: SaidError): boolean {
  return status === 403 && moderationWords.test(message);
}

const keyWords =
  /(?:incorrect|invalid|missing|no) api[ _-]?key|api key (?:not valid|expired|is invalid)|invalid[ _](?:authentication|token)/i;

const refusedKeyWords =
  /api[ _-]?key|credential|service account|consumer\b.*suspended|(?:account|organization|project)\b.*\b(?:suspended|disabled|deactivated|blocked)|unregistered callers|reported as leaked|(?:invalid|expired) (?:token|authentication)/i;

/** Whether a 403 is about the credential itself. All others are about what was asked for: a model, a region, something that the vendor keeps. */
export function isKeyRefusal({ status, message, words }: SaidError): boolean {
  return status === 403 && (words.includes('invalid_api_key') || refusedKeyWords.test(message));
}

/** Whether a 400 is about the credential: some vendors refuse bad keys so. */
export function isKeyProblem({ status, message, words }: SaidError): boolean {
  return status === 400 && (words.includes('invalid_api_key') || keyWords.test(message));
}

/** What clients are told instead of the upstream's words, because keys, bills and configured names are the operator's business. */
const operatorsBusiness: Partial<Record<ErrorCode, string>> = {
  upstream_credentials_rejected: "The upstream of this model refused the gateway's credentials.",
  upstream_quota_exhausted: "The gateway's account at the upstream of this model has no credit left.",
  upstream_model_not_found: 'The upstream does not know the model that is configured there.',
};

/** What clients are told where the upstream has no words for them. */
const defaultWords: Partial<Record<ErrorCode, string>> = {
  context_length_exceeded: 'The request is longer than the context of this model.',
  upstream_timeout: 'The upstream of this model did not answer in time.',
  upstream_overloaded: 'The upstream of this model is overloaded. Please try again later.',
  upstream_rate_limited: 'The upstream of this model limits the rate of calls. Please try again later.',
  request_too_large: 'The request is larger than the upstream of this model takes.',
  upstream_permission_denied: 'The upstream of this model does not permit this request.',
  upstream_refused_request: 'The upstream of this model refused the request without saying why.',
};

/** Names of the operator's account and anything like a key. The gateway takes out the key itself. */
const secrets =
  /\b(?:org-|proj_|user-|acct_)[\w-]{6,}|\bprojects?[ /]+[`'"]?[\w-]*\d[\w-]*|\b(?:sk|gsk|xai|pk|rk)-[\w-]{8,}|\bBearer\s+\S+|\bAIza[\w-]{10,}/g;

/** An upstream's words without what looks like a key or a name of the operator's account. */
export const hideSecrets = (message: string): string => message.replaceAll(secrets, '…');

/**
 * An error of this class, in words for the client; what those leave out is for the operator's log.
 * @param details members of the error body that client programs read
 */
export function createUpstreamError(code: ErrorCode, said: SaidError, details?: ContextOverflow): GatewayError {
  const { status, words, retryAfterSeconds } = said;
  const message = hideSecrets(said.message);
  const own = operatorsBusiness[code];
  const kind = words.length === 0 ? '' : ` (${words.join(', ').slice(0, 100)})`;
  const unsaid = own === undefined || message === '' ? '' : `: ${message.slice(0, 200)}`;
  return new GatewayError(code, own ?? (message === '' ? (defaultWords[code] ?? 'The upstream of this model failed.') : message), {
    internal: `the upstream answered ${status}${kind}${unsaid}`,
    ...(details === undefined ? {} : { details }),
    ...(retryAfterSeconds === undefined ? {} : { retryAfterSeconds }),
    // A redirect is no failure of the model server's; everything else is as good as its 500.
    ...(code === 'upstream_error' ? { status: status >= 300 && status < 400 ? 502 : 500 } : {}),
  });
}

/** Statuses with which servers say that a request is too long; 200 is that of an error within a stream. */
const overflowStatuses = new Set([200, 400, 413, 422, 500]);

/**
 * The error of a request that is longer than the model's context. Undefined for all others.
 * @param counts sizes that are told beside the words; those in the words go before them
 */
export function createOverflowError(said: SaidError, counts: ContextOverflow = {}): GatewayError | undefined {
  const overflow = overflowStatuses.has(said.status) ? readContextOverflow(said.message, said.words) : undefined;
  return overflow && createUpstreamError('context_length_exceeded', said, { ...counts, ...overflow });
}
