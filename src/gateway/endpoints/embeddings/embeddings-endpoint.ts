import { beginReport } from '../shared/begin-report.ts';
import { type Endpoint } from '../shared/endpoint.ts';
import { carriers } from '../shared/open-api-parts.ts';
import type { EmbeddingServices } from './embedding-services.ts';
import { quoteEmbeddings } from './quote-embeddings.ts';
import { serveEmbeddings } from './serve-embeddings.ts';

export const embeddingsEndpoint: Endpoint<EmbeddingServices> = {
  name: 'embeddings',
  routes: [
    {
      method: 'POST',
      path: '/v1/embeddings',
      identifiedBy: 'body',
      quote: () => quoteEmbeddings,
      openApi: {
        operation: () => ({
          summary: 'Make embeddings',
          security: carriers,
          responses: { 200: { description: 'The vectors, in the order of the input.' } },
        }),
      },
      serve: (services, http) => serveEmbeddings(services, http, beginReport(services, http, 'openai-embeddings')),
    },
  ],
};
