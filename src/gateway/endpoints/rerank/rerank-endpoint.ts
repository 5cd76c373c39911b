import { rerankFormOfPath } from '../../../dialects/rerank/rerank-form.ts';
import { beginReport } from '../shared/begin-report.ts';
import { type Endpoint, type EndpointRoute } from '../shared/endpoint.ts';
import type { PlainServices } from '../shared/plain-call.ts';
import { rerankOperation, rerankSchemas } from './open-api.ts';
import { quoteRerank } from './quote-rerank.ts';
import { rerankVoice } from './rerank-voice.ts';
import { serveRerank } from './serve-rerank.ts';

const label = 'rerank';

const voiceOf = (path: string) => rerankVoice(rerankFormOfPath(path));

function route(path: string): EndpointRoute<PlainServices> {
  return {
    method: 'POST',
    path,
    identifiedBy: 'body',
    quote: () => (query) => quoteRerank(query, path),
    openApi: { operation: () => rerankOperation(path) },
    serve: (services, http) => serveRerank(services, http, beginReport(services, http, label), voiceOf(path)),
  };
}

/** Rankings, in the spellings of Cohere, Jina and Voyage. */
export const rerankEndpoint: Endpoint<PlainServices> = {
  name: 'rerank',
  routes: ['/v1/rerank', '/v2/rerank', '/rerank'].map(route),
  voice: { owns: (path) => /^(?:\/v[12])?\/rerank(?:\/|$)/.test(path), wording: (path) => ({ voice: voiceOf(path), label }) },
  schemas: rerankSchemas,
};
