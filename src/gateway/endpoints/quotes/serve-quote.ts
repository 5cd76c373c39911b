import type { IncomingMessage } from 'node:http';

import type { CreditDesk } from '../../../billing/credits/credit-desk.ts';
import type { ErrorVoice } from '../../../dialects/error-voice.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import type { ClientReply } from '../../replies/client-reply.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import { locateJson } from '../../../platform/json/locate-json.ts';
import { authenticate } from '../../admission/authenticate.ts';
import { requestIdHeader } from '../../replies/reply-headers.ts';
import type { Gateway } from '../gateway.ts';
import { checkCaller } from '../../admission/check-caller.ts';
import { reserveCall, type TakenLimits } from '../../admission/limits/reserve-call.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import { readRequest, type ReadRequest } from '../../admission/read-request.ts';
import type { RequestTarget } from '../../admission/request-target.ts';
import { voiceOfPath } from '../voice-of-path.ts';
import type { RouteMatch } from '../route-table.ts';
import { writeError, writeReply } from '../../replies/write-reply.ts';
import { type Affordable, describeQuote, priceQuote } from './describe-quote.ts';
import { findQuoted } from './find-quoted.ts';
import type { Asked } from './quoted-call.ts';

type Http = {
  readonly request: IncomingMessage;
  readonly response: ClientReply;
  readonly callId: string;
  readonly target: RequestTarget;
};

/** What is asked: `{path, body}`, the body as it would be posted to the path. */
type Question = { readonly path: string } & Pick<Asked, 'bytes' | 'body'>;

const pathCharactersMax = 2048;
/** A question need not say which version of an interface the call itself will name. */
const assumedHeaders = { 'anthropic-version': '2023-06-01' };

/**
 * Serves `POST /v1/quote`: what a request would cost at least, by the best estimate and at most, without sending it anywhere. What is wrong with the request is answered as its
 * path would answer it. A question costs nothing, counts as a request in the limits, and is no call.
 * @throws GatewayError for what is wrong with the question
 */
export async function serveQuote(gateway: Gateway, http: Http, findRoute: (method: string, path: string) => RouteMatch): Promise<void> {
  const { request, response, callId, target } = http;
  const settings = gateway.settings();
  const caller = await authenticate(request, target.queryKeys, gateway.callers);
  const nowMs = gateway.clock.nowMs();
  checkCaller(caller, request, nowMs, settings.isProxy);
  const { voice } = chatDialects['openai-responses'];
  const admission = await enterGate(gateway.gatekeeper, { callId, request, response, voice }, undefined, caller.userId);
  if (admission === undefined) return;
  const limited = await countRequest(gateway, caller);
  const read = await readRequest(request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(read.bytes.length);
  const { path, ...body } = readQuestion(read);
  const quote = findQuoted(findRoute, path);
  const headers = { ...assumedHeaders, ...(request.headers as Asked['headers']) };
  const asked: Asked = { gateway, settings, caller, headers, nowMs, ...body };
  try {
    const call = await quote(asked);
    const priced = priceQuote(asked, call);
    const affordable = await lookForMoney(gateway, asked, priced.heldNanoUsd);
    const answer = describeQuote({ ...asked, path }, call, priced, affordable);
    const told = {
      'content-type': 'application/json',
      'cache-control': 'private, no-store',
      ...limited?.headers,
      [requestIdHeader]: callId,
    };
    writeReply(response, 200, told, Buffer.from(JSON.stringify(answer)));
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    writeError(response, voiceOfQuestion(path, request.headers as Asked['headers']), error, callId);
  }
}

/** Takes one request of the caller's limits, and no tokens. @throws GatewayError `rate_limited` */
async function countRequest({ limiter, clock, settings }: Gateway, caller: Asked['caller']): Promise<TakenLimits | undefined> {
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

function voiceOfQuestion(address: string, headers: Asked['headers']): ErrorVoice {
  const [path = ''] = address.split('?');
  return voiceOfPath(path, headers);
}

/** Asks for what would be held and gives it back at once, so that the answer is the very one that a call would get. */
async function lookForMoney(
  { credits, clock }: Pick<Gateway, 'clock'> & { readonly credits?: CreditDesk | undefined },
  { caller }: Asked,
  nanoUsd: bigint,
): Promise<Affordable> {
  const answer = await credits?.hold(caller, nanoUsd, clock.nowMs());
  if (answer === undefined) return { kind: 'unlimited' };
  if (!answer.admitted) return { kind: 'refused', refusal: answer };
  answer.end();
  return { kind: 'covered' };
}
