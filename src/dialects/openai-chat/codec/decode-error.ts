import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import { countOf, filledText, membersOf, objectOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { errorStatusOf, isOutOfCredit } from '../../error-status.ts';
import type { ContextOverflow } from '../../read-context-overflow.ts';
import {
  classifyStatus,
  createFilterError,
  createOverflowError,
  createUpstreamError,
  messageCharactersMax,
  type UpstreamError,
  isKeyProblem,
  isKeyRefusal,
  isModeration,
} from '../../upstream-error.ts';

/** Longer messages are cut before they are read. */
const readCharactersMax = 10_000;

/** FastAPI, on which many servers are built, returns a text or a list of problems with their locations. */
function readDetail(detail: unknown): string | undefined {
  const texts = objectsOf(detail).flatMap(({ msg, loc }) => {
    const text = filledText(msg);
    return text === undefined ? [] : [Array.isArray(loc) ? `${loc.join('.')}: ${text}` : text];
  });
  return filledText(detail) ?? (texts.length > 0 ? texts.join('; ') : filledText(membersOf(detail).message));
}

/** Services in front of a vendor put the vendor's error as text beside their own, which is then unspecific. */
function readInner(error: JsonObject): string | undefined {
  const raw = filledText(membersOf(error.metadata).raw);
  if (raw === undefined) return undefined;
  const inner = /"message"\s*:\s*"((?:[^"\\]|\\.)*)"/.exec(raw)?.[1];
  return inner === undefined ? raw : inner.replaceAll(/\\(["\\/])/g, '$1');
}

function readMessage(body: unknown, error: JsonObject): string {
  const members = membersOf(body);
  const own =
    filledText(error.message) ?? filledText(members.error) ?? filledText(members.message) ?? readDetail(members.detail) ?? filledText(body);
  const texts = [own, readInner(error)].filter((text, at, all) => text !== undefined && all.indexOf(text) === at);
  return texts.join(': ').slice(0, readCharactersMax);
}

/** For an error inside a 200, the status that the error should have had. */
function readStatus(status: number, error: JsonObject): number {
  return status >= 400 ? status : (errorStatusOf(error.code) ?? 500);
}

const cutMessage = (message: string): string =>
  message.length > messageCharactersMax ? `${message.slice(0, messageCharactersMax)}…` : message;

const quotaWords =
  /insufficient[ _](?:quota|balance|credits?|funds)|exceeded your current quota|billing|requires more credits|credit balance/i;
const overloadWords = /overloaded|at capacity|no available (?:server|worker|channel)|engine is currently|server is busy/i;
const modelWords =
  /model\b.{0,200}(?:does not exist|not found|not exist|unknown|not supported by|is not available)|no such model|unknown model/i;

function isAbout(error: UpstreamError, words: readonly string[], pattern: RegExp): boolean {
  return error.words.some((word) => words.includes(word)) || pattern.test(error.message);
}

/** The class of an error by its status, or by its message if the status is unspecific. */
function classify(error: UpstreamError): ErrorCode {
  if (isModeration(error)) return 'upstream_refused_request';
  if (isKeyProblem(error) || isKeyRefusal(error)) return 'upstream_credentials_rejected';
  const code = classifyStatus(error.status);
  if (isOutOfCredit(error.status, error.words) || (code === 'upstream_rate_limited' && quotaWords.test(error.message))) {
    return 'upstream_quota_exhausted';
  }
  if (code === 'upstream_error' && isAbout(error, ['overloaded_error', 'overloaded'], overloadWords)) return 'upstream_overloaded';
  if (code === 'upstream_refused_request' && isAbout(error, ['model_not_found'], modelWords)) return 'upstream_model_not_found';
  return code;
}

/** The sizes that llama.cpp reports outside the message. */
function readCounts(error: JsonObject): ContextOverflow {
  const tokens = countOf(error.n_prompt_tokens);
  const tokensMax = countOf(error.n_ctx);
  return { ...(tokens === undefined ? {} : { tokens }), ...(tokensMax === undefined ? {} : { tokensMax }) };
}

/**
 * A field that the vendor names belongs to the request that the gateway wrote. Its path is the client's only if the two
 * dialects agree, so it stays in the message.
 */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  const members = membersOf(body);
  const error = objectOf(members.error) ?? members;
  const upstreamError: UpstreamError = {
    status: readStatus(status, error),
    message: readMessage(body, error),
    words: [error.code, error.type, error.status].flatMap((word) => filledText(word)?.toLowerCase() ?? []),
    retryAfterSeconds,
  };
  const shown = { ...upstreamError, message: cutMessage(upstreamError.message) };
  return (
    createOverflowError(shown, readCounts(error)) ?? createFilterError(body, shown) ?? createUpstreamError(classify(upstreamError), shown)
  );
}
