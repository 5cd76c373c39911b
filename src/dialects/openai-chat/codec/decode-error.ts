import type { ErrorCode, GatewayError } from '../../../inference/gateway-error.ts';
import { countOf, filledText, membersOf, objectOf, objectsOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import type { UpstreamErrorReply } from '../../chat-codec.ts';
import { errorStatusOf, isOutOfCredit } from '../../error-status.ts';
import type { ContextOverflow } from '../../read-context-overflow.ts';
import {
  classifyStatus,
  createOverflowError,
  createUpstreamError,
  messageCharactersMax,
  type SaidError,
  isKeyProblem,
  isKeyRefusal,
  isModeration,
} from '../../upstream-error.ts';

/** No more of a message is looked at. */
const readCharactersMax = 10_000;

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

function readMessage(body: unknown, error: JsonObject): string {
  const whole = membersOf(body);
  const told =
    filledText(error.message) ?? filledText(whole.error) ?? filledText(whole.message) ?? readDetail(whole.detail) ?? filledText(body);
  const texts = [told, readInner(error)].filter((text, at, all) => text !== undefined && all.indexOf(text) === at);
  return texts.join(': ').slice(0, readCharactersMax);
}

/** A 200 with an error in it: the error says what the status should have been. */
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

function isAbout(said: SaidError, words: readonly string[], pattern: RegExp): boolean {
  return said.words.some((word) => words.includes(word)) || pattern.test(said.message);
}

/** The class of an error by its status, and where the status says little, by its words. */
function classify(said: SaidError): ErrorCode {
  if (isModeration(said)) return 'upstream_refused_request';
  if (isKeyProblem(said) || isKeyRefusal(said)) return 'upstream_credentials_rejected';
  const code = classifyStatus(said.status);
  if (isOutOfCredit(said.status, said.words) || (code === 'upstream_rate_limited' && quotaWords.test(said.message))) {
    return 'upstream_quota_exhausted';
  }
  if (code === 'upstream_error' && isAbout(said, ['overloaded_error', 'overloaded'], overloadWords)) return 'upstream_overloaded';
  if (code === 'upstream_refused_request' && isAbout(said, ['model_not_found'], modelWords)) return 'upstream_model_not_found';
  return code;
}

/** Where llama.cpp tells sizes. */
function readCounts(error: JsonObject): ContextOverflow {
  const tokens = countOf(error.n_prompt_tokens);
  const tokensMax = countOf(error.n_ctx);
  return { ...(tokens === undefined ? {} : { tokens }), ...(tokensMax === undefined ? {} : { tokensMax }) };
}

/**
 * A field that the vendor names is one of the written request. Its path is a client's only where the two agree, so it stays in the message.
 */
export function decodeError({ status, body, retryAfterSeconds }: UpstreamErrorReply): GatewayError {
  const whole = membersOf(body);
  const error = objectOf(whole.error) ?? whole;
  const said: SaidError = {
    status: readStatus(status, error),
    message: readMessage(body, error),
    words: [error.code, error.type, error.status].flatMap((word) => filledText(word)?.toLowerCase() ?? []),
    retryAfterSeconds,
  };
  const shown = { ...said, message: cutMessage(said.message) };
  return createOverflowError(shown, readCounts(error)) ?? createUpstreamError(classify(said), shown);
}
