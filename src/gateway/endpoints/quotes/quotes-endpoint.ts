import type { Endpoint, EndpointRequest } from '../shared/endpoint.ts';
import { repeatable } from '../shared/open-api-parts.ts';
import { type RequestHeaders, type Wording, wordingOf } from '../shared/wording.ts';
import { quoteOperation, quoteSchemas } from './open-api/quote-operations.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject } from '../../../platform/json/json-value.ts';
import { locateJson } from '../../../platform/json/locate-json.ts';
import { type TakenLimits, reserveCall } from '../../admission/limits/reserve-call.ts';
import { type ReadRequest, readRequest } from '../../admission/read-request.ts';
import { writeError } from '../../replies/write-reply.ts';
import { enter } from '../../admission/enter.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import type { QuoteTarget } from '../shared/quoted-call.ts';
import { writeJson } from '../shared/write-json.ts';
import { checkCredit } from './check-credit.ts';
import { describeQuote, priceQuote } from './describe-quote.ts';
import { findQuoted, type FindRoute } from './find-quoted.ts';

/** The costs of requests to the other endpoints. */
export function createQuotesEndpoint<Services extends QuoteServices>(endpoints: QuotedEndpoints<Services>): Endpoint<Services> {
  return {
    name: 'quotes',
    routes: [
      {
        method: 'POST',
        path: '/v1/quote',
        // A key may be sent, but nothing is stored for it: a quote changes nothing.
        openApi: { operation: () => repeatable(quoteOperation()) },
        serve: (services, http) => serveQuote(services, http, endpoints),
      },
    ],
    voice: { owns: (path) => /^\/v1\/quote(?:\/|$)/.test(path), wording: () => wordingOf('openai-responses') },
    schemas: quoteSchemas,
  };
}

/** The services of quotes, besides those with which each endpoint prices its own requests. */
export type QuoteServices = AdmissionServices & Pick<AttemptServices, 'settings'>;

/** The endpoints whose requests are priced. */
export type QuotedEndpoints<Services> = {
  readonly findRoute: FindRoute<Services>;
  /** How errors of a path are worded. */
  readonly wordingOfPath: (path: string, headers: RequestHeaders) => Wording;
};

/** The body of a quote request: `{path, body}`, with the body that would be posted to the path. */
type QuoteRequest = { readonly path: string } & Pick<QuoteTarget, 'bytes' | 'body'>;

const pathCharactersMax = 2048;
/** A quote request need not name the version of the interface. */
const assumedHeaders = { 'anthropic-version': '2023-06-01' };

/**
 * Serves `POST /v1/quote`: the lowest, the expected and the highest cost of a request, which is not sent. An error in
 * the quoted request is worded as at its own path. A quote is free and is not a call, but counts as a request in the
 * limits.
 * @throws GatewayError if the quote request itself is invalid
 */
async function serveQuote<Services extends QuoteServices>(
  gateway: Services,
  http: EndpointRequest,
  { findRoute, wordingOfPath }: QuotedEndpoints<Services>,
): Promise<void> {
  const { request, response, callId } = http;
  const settings = gateway.settings();
  const nowMs = gateway.clock.nowMs();
  const admitted = await enter(gateway, http, chatDialects['openai-responses'].voice);
  if (admitted === undefined) return;
  const { caller, admission } = admitted;
  const limited = await countRequest(gateway, caller);
  const read = await readRequest(request, settings.limits, (held) => admission.holdBytes(held));
  admission.holdBytes(read.bytes.length);
  const { path, ...body } = readQuoteRequest(read);
  const quote = findQuoted(findRoute, path);
  const headers = { ...assumedHeaders, ...(request.headers as QuoteTarget['headers']) };
  const quoted: QuoteTarget<Services> = { gateway, settings, caller, headers, nowMs, ...body };
  try {
    const call = await quote(quoted);
    const priced = priceQuote(quoted, call);
    const affordable = await checkCredit(gateway, quoted, priced.heldNanoUsd);
    const answer = describeQuote({ ...quoted, path }, call, priced, affordable);
    writeJson(http, 200, answer, { 'cache-control': 'private, no-store', ...limited?.headers });
  } catch (error) {
    if (!(error instanceof GatewayError)) throw error;
    const [asPath = ''] = path.split('?');
    writeError(response, wordingOfPath(asPath, request.headers).voice, error, callId);
  }
}

/** Counts one request in the caller's limits, without tokens. @throws GatewayError `rate_limited` */
async function countRequest({ limiter, clock, settings }: QuoteServices, caller: QuoteTarget['caller']): Promise<TakenLimits | undefined> {
  const facts = { requestedModel: '', stream: false, inputCharacters: 0, needs: [], outputTokensMax: 0 };
  const { voice } = chatDialects['openai-chat'];
  const reserved = await reserveCall({ limiter, clock, voice, caller, perKey: settings().perKey, facts, model: undefined });
  reserved?.reservation.settle(0);
  return reserved;
}

/** @throws GatewayError `missing_required_field` or `invalid_value` */
function readQuoteRequest({ bytes, body: fields }: ReadRequest): QuoteRequest {
  const { path, body } = fields;
  if (path === undefined) throw new GatewayError('missing_required_field', "Missing required parameter: 'path'.", { param: 'path' });
  if (typeof path !== 'string' || path.length > pathCharactersMax)
    throw new GatewayError('invalid_value', 'Invalid \'path\': expected a path such as "/v1/messages".', { param: 'path' });
  if (body === undefined) throw new GatewayError('missing_required_field', "Missing required parameter: 'body'.", { param: 'body' });
  const span = locateJson(bytes, ['body']);
  if (!isJsonObject(body) || span === undefined)
    throw new GatewayError('invalid_value', "Invalid 'body': expected the object that would be posted.", { param: 'body' });
  return { path, body, bytes: bytes.subarray(span.start, span.end) };
}
