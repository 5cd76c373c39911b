import type { Endpoint } from '../shared/endpoint.ts';
import { repeatable } from '../shared/open-api-parts.ts';
import { wordingOf } from '../shared/wording.ts';
import { quoteOperation, quoteSchemas } from './open-api/quote-operations.ts';
import { type QuotedEndpoints, type QuoteServices, serveQuote } from './serve-quote.ts';

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
