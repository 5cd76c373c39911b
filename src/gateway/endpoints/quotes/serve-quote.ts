import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import { locateJson } from '../../../platform/json/locate-json.ts';
import { reserveCall, type TakenLimits } from '../../admission/limits/reserve-call.ts';
import { readRequest, type ReadRequest } from '../../admission/read-request.ts';
import { writeError } from '../../replies/write-reply.ts';
import { enter } from '../../admission/enter.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { QuoteTarget } from '../shared/quoting/quoted-call.ts';
import type { RequestHeaders, Wording } from '../shared/wording.ts';
import { writeJson } from '../shared/write-json.ts';
import { findQuoted, type FindRoute } from './find-quoted.ts';
import { type Affordable, describeQuote, priceQuote } from './describe-quote.ts';

/** What quotes work with, besides what each endpoint needs to price its own requests. */
export type QuoteServices = AdmissionServices & Pick<AttemptServices, 'settings'>;

/** The endpoints whose requests are priced. */
export type QuotedEndpoints<Services> = {
  readonly findRoute: FindRoute<Services>;
  /** How errors of a path are worded. */
  readonly wordingOfPath: (path: string, headers: RequestHeaders) => Wording;
};

/** What is asked: `{path, body}`, the body as it would be posted to the path. */
type Question = { readonly path: string } & Pick<QuoteTarget, 'bytes' | 'body'>;

const pathCharactersMax = 2048;
/** A question need not say which version of an interface the call itself will name. */
const assumedHeaders = { 'anthropic-version': '2023-06-01' };

/**
 * Serves `POST /v1/quote`: what a request would cost at least, by the best estimate and at most, without sending it
 * anywhere. What is wrong with the request is answered as its path would answer it. A question costs nothing, counts as
 * a request in the limits, and is no call.
 * @throws GatewayError for what is wrong with the question
 */
export async function serveQuote<Services extends QuoteServices>(
  gateway: Services,
  http: EndpointRequest,
  { findRoute, wordingOfPath }: QuotedEndpoints<Services>,
): Promise<void> {
  const { request, response, callId } = http;
  const settings = gateway.settings();
  const nowMs = gateway.clock.nowMs();
  const entered = await enter(gateway, http, chatDialects['openai-responses'].voice);
  if (entered === undefined) return;
  const { caller, admission } = entered;
  const limited = await countRequest(gateway, caller);
  const read = await readRequest(request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(read.bytes.length);
  const { path, ...body } = readQuestion(read);
  const quote = findQuoted(findRoute, path);
  const headers = { ...assumedHeaders, ...(request.headers as QuoteTarget['headers']) };
  const asked: QuoteTarget<Services> = { gateway, settings, caller, headers, nowMs, ...body };
  try {
    const call = await quote(asked);
    const priced = priceQuote(asked, call);
    const affordable = await lookForMoney(gateway, asked, priced.heldNanoUsd);
    const answer = describeQuote({ ...asked, path }, call, priced, affordable);
    writeJson(http, 200, answer, { 'cache-control': 'private, no-store', ...limited?.headers });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const [asPath = ''] = path.split('?');
    writeError(response, wordingOfPath(asPath, request.headers).voice, error, callId);
  }
}

/** Takes one request of the caller's limits, and no tokens. @throws GatewayError `rate_limited` */
async function countRequest({ limiter, clock, settings }: QuoteServices, caller: QuoteTarget['caller']): Promise<TakenLimits | undefined> {
  const facts = { requestedModel: '', stream: false, inputCharacters: 0, needs: [], outputTokensMax: 0 };
  const { voice } = chatDialects['openai-chat'];
  const taken = await reserveCall({ limiter, clock, voice, caller, perKey: settings().perKey, facts, model: undefined });
  taken?.reservation.settle(0);
  return taken;
}

/** @throws GatewayError `missing_required_field` or `invalid_value` */
function readQuestion({ bytes, body: question }: ReadRequest): Question {
  const { path, body } = question;
  if (path === undefined) throw new GatewayError('missing_required_field', "Missing required parameter: 'path'.", { param: 'path' });
  if (typeof path !== 'string' || path.length > pathCharactersMax)
    throw new GatewayError('invalid_value', 'Invalid \'path\': expected a path such as "/v1/messages".', { param: 'path' });
  if (body === undefined) throw new GatewayError('missing_required_field', "Missing required parameter: 'body'.", { param: 'body' });
  const span = locateJson(bytes, ['body']);
  if (!isJsonObject(body) || span === undefined)
    throw new GatewayError('invalid_value', "Invalid 'body': expected the object that would be posted.", { param: 'body' });
  return { path, body, bytes: bytes.subarray(span.start, span.end) };
}

/** Asks for what would be held and gives it back at once, so that the answer is the very one that a call would get. */
async function lookForMoney(
  { credits, clock }: Pick<QuoteServices, 'clock' | 'credits'>,
  { caller }: QuoteTarget,
  nanoUsd: bigint,
): Promise<Affordable> {
  const answer = await credits?.hold(caller, nanoUsd, clock.nowMs());
  if (answer === undefined) return { kind: 'unlimited' };
  if (!answer.admitted) return { kind: 'refused', refusal: answer };
  answer.end();
  return { kind: 'covered' };
}
