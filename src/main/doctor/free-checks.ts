import type { UpstreamDialectId } from '../../dialects/dialect-id.ts';
import { filledText, membersOf, numberOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import type { VendorId } from '../../upstreams/upstream-vendor.ts';
import { type Answer, AskError } from '../../platform/http/ask-upstream.ts';
import { bad, good, type Outcome } from './call-checks.ts';
import { createRequest } from './check-requests.ts';
import { explainAnswer, explainSilence, saidIn } from './explain-failure.ts';
import { parseBody } from './parse-body.ts';
import { type Conversation, encode, encodeCount, sendBody } from './speak.ts';
import type { RunCheck } from './text-checks.ts';

function plainRequest({ checked, model }: Conversation) {
  return createRequest({ model, traits: checked.upstream.traitsOf(model), allowance: 'word' }, {});
}

export const checkCount: RunCheck = async (conversation) => {
  const { dialect, checked, model, limits } = conversation;
  const body = encodeCount(conversation, plainRequest(conversation));
  const none: Outcome = { verdict: 'none', says: 'no counter of tokens on this interface: the gateway estimates' };
  if (body === undefined) return none;
  try {
    const answer = await sendBody(conversation, body, { operation: 'count-tokens', streams: false });
    if (answer === undefined) return none;
    const count = answer.status === 200 ? dialect.codec.decodeCount?.(parseBody(answer.body)) : undefined;
    if (count !== undefined && count > 0) return { verdict: 'good', says: `${count} tokens` };
    if (answer.status === 404 || answer.status === 405)
      return {
        verdict: 'warning',
        says: `${answer.status}: the server has no counter of tokens`,
        advice: 'clients that count first (Claude Code does) get its error; nothing else suffers',
      };
    if (answer.status !== 200) return { verdict: 'bad', ...explainAnswer(answer, dialect.id, model, checked) };
    return bad(`the counter answers without a count: ${saidIn(answer, checked)}`, 'update the server');
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    return { verdict: 'bad', ...explainSilence(error, checked, limits.timeoutMs) };
  }
};

/** The required member of each dialect's requests. */
const mainMember: Readonly<Record<UpstreamDialectId, string>> = {
  'openai-chat': 'messages',
  'openai-responses': 'input',
  'anthropic-messages': 'messages',
  'gemini-generate-content': 'contents',
  'bedrock-converse': 'messages',
};

/** What an error body lacks of its dialect's shape; undefined if it is complete. */
function findShapeFault(dialect: UpstreamDialectId, vendor: VendorId, body: unknown): string | undefined {
  const whole = membersOf(Array.isArray(body) ? (body[0] as unknown) : body);
  // This vendor's errors are a text on interfaces that it adopted from another vendor.
  if (vendor === 'xai' && filledText(whole.error) !== undefined) return undefined;
  // Errors of AWS have no member around them.
  const error = dialect === 'bedrock-converse' ? whole : membersOf(whole.error);
  if (filledText(error.message) === undefined) return 'it has no error.message';
  return findOwnFault[dialect](whole, error);
}

/** Required members of an error besides the message. Servers with OpenAI interfaces have none in common. */
const findOwnFault: Readonly<Record<UpstreamDialectId, (whole: JsonObject, error: JsonObject) => string | undefined>> = {
  'anthropic-messages': (whole, error) =>
    whole.type !== 'error' || filledText(error.type) === undefined ? 'it lacks "type": "error", or the type of the error' : undefined,
  'gemini-generate-content': (_whole, error) =>
    numberOf(error.code) === undefined || filledText(error.status) === undefined ? 'it lacks error.code or error.status' : undefined,
  'openai-chat': () => undefined,
  'openai-responses': () => undefined,
  'bedrock-converse': () => undefined,
};

function judgeError(conversation: Conversation, answer: Answer): Outcome {
  const { dialect, checked, model } = conversation;
  const { status } = answer;
  if (status === 200)
    return bad('a request without a usable conversation was accepted', 'the server checks nothing: mistakes of clients will go unseen');
  if (status === 401 || status === 403 || status === 404 || status === 429)
    return { verdict: 'bad', ...explainAnswer(answer, dialect.id, model, checked) };
  const said = saidIn(answer, checked);
  if (status >= 500)
    return {
      verdict: 'warning',
      says: `a bad request is answered with ${status}: ${said}`,
      advice: 'the gateway and its clients will take it for a failure of the server and try again',
    };
  const fault = findShapeFault(dialect.id, checked.upstream.vendor.id, parseBody(answer.body));
  if (fault === undefined) return good;
  return {
    verdict: 'warning',
    says: `the error is not in the shape of ${dialect.title}: ${fault}`,
    advice: 'clients of this interface may show no reason; translated calls do, as far as Weir can read it',
  };
}

/** Sends a request that every server must refuse, and checks the error. Vendors do not bill it. */
export const checkError: RunCheck = async (conversation) => {
  const { checked, dialect, limits } = conversation;
  const broken: JsonObject = { ...encode(conversation, plainRequest(conversation)).body, [mainMember[dialect.id]]: 7 };
  try {
    const answer = await sendBody(conversation, broken, { operation: 'generate', streams: false });
    return answer === undefined ? { verdict: 'none', says: 'this upstream has no route for it' } : judgeError(conversation, answer);
  } catch (error) {
    if (!(error instanceof AskError)) throw error;
    return { verdict: 'bad', ...explainSilence(error, checked, limits.timeoutMs) };
  }
};
