import { type ErrorCode, GatewayError, type GatewayErrorOptions } from '../../../inference/gateway-error.ts';
import { filledText, membersOf, numberOf, objectsOf, textOf } from '../../../platform/json/json-readers.ts';
import { isJsonObject, type JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { readContextOverflow } from './context-overflow.ts';

/** What an error answer says, whoever wrote it. */
type SaidError = {
  readonly message: string;
  readonly words: readonly string[];
  readonly body: JsonObject;
  readonly status: number | undefined;
};

const messageCharactersMax = 2000;
/** No more of a message is looked at. */
const readCharactersMax = 10_000;

/** Names of the operator's account and anything like a key. The gateway takes out the key itself. */
const secrets = /\b(?:org-|proj_|user-|acct_)[\w-]{6,}|\b(?:sk|gsk|xai|pk|rk)-[\w-]{8,}|\bBearer\s+\S+|\bAIza[\w-]{10,}/g;

function cleanMessage(message: string): string {
  const cleaned = message.replaceAll(secrets, '…');
  return cleaned.length > messageCharactersMax ? `${cleaned.slice(0, messageCharactersMax)}…` : cleaned;
}

/** FastAPI, in which many servers are written, says a text or a list of what is wrong where. */
function readDetail(detail: unknown): string | undefined {
  const told = objectsOf(detail).flatMap(({ msg, loc }) => {
    const text = filledText(msg);
    return text === undefined ? [] : [Array.isArray(loc) ? `${loc.join('.')}: ${text}` : text];
  });
  return filledText(detail) ?? (told.length > 0 ? told.join('; ') : filledText(membersOf(detail).message));
}

/** Services that stand before a vendor give its own error as text beside theirs, which then says little. */
function readInner(error: JsonObject): string | undefined {
  const raw = filledText(membersOf(error.metadata).raw);
  if (raw === undefined) return undefined;
  const inner = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(raw)?.[1];
  return inner === undefined ? raw : inner.replaceAll(/\\(["\\/])/g, '$1');
}

function readSaid({ body, status }: UpstreamErrorReply): SaidError {
  const whole = membersOf(body);
  const error = isJsonObject(whole.error) ? whole.error : whole;
  const told =
    filledText(error.message) ?? filledText(whole.error) ?? filledText(whole.message) ?? readDetail(whole.detail) ?? filledText(body);
  const inner = readInner(error);
  const texts = [told, inner].filter((text, at, all) => text !== undefined && all.indexOf(text) === at);
  const message = texts.join(': ').slice(0, readCharactersMax);
  const code = numberOf(error.code);
  return {
    message,
    words: [error.code, error.type, error.status].flatMap((word) => textOf(word)?.toLowerCase() ?? []),
    body: error,
    // A 200 with an error in it: the error says what the status should have been.
    status: status >= 400 ? status : code !== undefined && code >= 400 && code <= 599 ? code : undefined,
  };
}

const keyWords =
  /(?:incorrect|invalid|missing|no) api[ _-]?key|api key (?:not valid|expired|is invalid)|invalid[ _](?:authentication|token)/i;
const quotaWords =
  /insufficient[ _](?:quota|balance|credits?|funds)|exceeded your current quota|billing|requires more credits|credit balance/i;
const overloadWords = /overloaded|at capacity|no available (?:server|worker|channel)|engine is currently|server is busy/i;
const modelWords =
  /model\b.{0,200}(?:does not exist|not found|not exist|unknown|not supported by|is not available)|no such model|unknown model/i;
const moderationWords = /flagged|moderation|content[ _]policy|usage guidelines|safety/i;

function isAbout(said: SaidError, words: readonly string[], pattern: RegExp): boolean {
  return said.words.some((word) => words.includes(word)) || pattern.test(said.message);
}

/** The class of an error by its status, and where the status says little, by its words. */
function classify(said: SaidError): ErrorCode {
  const status = said.status ?? 500;
  if (status === 400 && isAbout(said, ['invalid_api_key'], keyWords)) return 'upstream_credentials_rejected';
  if (status === 403 && moderationWords.test(said.message)) return 'upstream_refused_request';
  if (status === 401 || status === 403) return 'upstream_credentials_rejected';
  if (status === 402) return 'upstream_quota_exhausted';
  if (status === 429) {
    return isAbout(said, ['insufficient_quota', 'billing_hard_limit_reached'], quotaWords)
      ? 'upstream_quota_exhausted'
      : 'upstream_rate_limited';
  }
  if (status === 404) return 'upstream_model_not_found';
  if (status === 408 || status === 504 || status === 524) return 'upstream_timeout';
  if (status === 413) return 'request_too_large';
  if (status === 503 || status === 529) return 'upstream_overloaded';
  if (status >= 500) return isAbout(said, ['overloaded_error', 'overloaded'], overloadWords) ? 'upstream_overloaded' : 'upstream_error';
  return isAbout(said, ['model_not_found'], modelWords) ? 'upstream_model_not_found' : 'upstream_refused_request';
}

/** Words for what is the operator's affair, or what the vendor would say about itself: a client needs no more. */
const ownWords: Partial<Record<ErrorCode, string>> = {
  upstream_credentials_rejected: 'The upstream of this model does not accept the credential that the gateway has for it.',
  upstream_quota_exhausted: 'The account of the gateway at the upstream of this model has no credit left.',
  upstream_model_not_found: 'The upstream does not know the model that is configured there.',
};

const defaultWords: Partial<Record<ErrorCode, string>> = {
  upstream_timeout: 'The upstream did not answer in time.',
  upstream_overloaded: 'The upstream is overloaded. Please try again later.',
  upstream_rate_limited: 'The upstream limits the rate of calls. Please try again later.',
  request_too_large: 'The request is larger than the upstream takes.',
  upstream_refused_request: 'The upstream refused the request without saying why.',
};

/** A field that the vendor names is one of the written request. Its path is a client's only where the two agree, so it stays in the message. */
export function decodeError(reply: UpstreamErrorReply): GatewayError {
  const said = readSaid(reply);
  const message = cleanMessage(said.message);
  const status = said.status ?? 500;
  const isInvalid = status === 400 || status === 413 || status === 422 || status === 500;
  const overflow = isInvalid ? (readContextOverflow(said.message, said.words) ?? undefined) : undefined;
  if (overflow !== undefined) {
    const counts = { tokens: numberOf(said.body.n_prompt_tokens), tokensMax: numberOf(said.body.n_ctx), ...overflow };
    const details = Object.fromEntries(Object.entries(counts).filter(([, count]) => count !== undefined));
    return new GatewayError('context_length_exceeded', message === '' ? 'The request is longer than the context of the model.' : message, {
      details,
    });
  }
  const code = classify(said);
  const own = ownWords[code];
  const options: GatewayErrorOptions = {
    ...(own === undefined ? {} : { internal: `upstream status ${status}: ${message.slice(0, 200)}` }),
    ...(reply.retryAfterSeconds === undefined ? {} : { retryAfterSeconds: reply.retryAfterSeconds }),
    ...(code === 'upstream_error' && { status: 500 }),
  };
  const words = own ?? (message === '' ? (defaultWords[code] ?? 'The upstream failed.') : message);
  return new GatewayError(code, words, options);
}
