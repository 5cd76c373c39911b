import { callbacksEndpoint } from './account/callbacks-endpoint.ts';
import { creditsEndpoint } from './account/credits-endpoint.ts';
import { receiptsEndpoint } from './account/receipts-endpoint.ts';
import { audioEndpoint } from './audio/audio-endpoint.ts';
import { chatEndpoint, generateContentEndpoint } from './chat/chat-endpoint.ts';
import { bedrockEndpoint } from './chat/clouds/bedrock-endpoint.ts';
import { vertexEndpoint } from './chat/clouds/vertex-endpoint.ts';
import { embeddingsEndpoint } from './embeddings/embeddings-endpoint.ts';
import { filesEndpoint } from './files/files-endpoint.ts';
import type { Gateway } from './gateway.ts';
import { healthEndpoint } from './health/health-endpoint.ts';
import { imagesEndpoint } from './images/images-endpoint.ts';
import { modelsEndpoint } from './models/models-endpoint.ts';
import { moderationsEndpoint } from './moderations/moderations-endpoint.ts';
import { createQuotesEndpoint } from './quotes/quotes-endpoint.ts';
import { rerankEndpoint } from './rerank/rerank-endpoint.ts';
import { createRouter } from './router.ts';
import type { Endpoint, EndpointRoute } from './shared/endpoint.ts';
import { dialectOfHeaders, type RequestHeaders, type Wording, wordingOf } from './shared/wording.ts';
import { storedObjectsEndpoint } from './stored-objects/stored-objects-endpoint.ts';
import { videosEndpoint } from './videos/videos-endpoint.ts';

/** Every endpoint of the gateway. The router, the wording of errors and the OpenAPI document use this order. */
export const endpoints: readonly Endpoint<Gateway>[] = [
  chatEndpoint,
  storedObjectsEndpoint,
  generateContentEndpoint,
  bedrockEndpoint,
  vertexEndpoint,
  modelsEndpoint,
  callbacksEndpoint,
  receiptsEndpoint,
  createQuotesEndpoint<Gateway>({ findRoute: (method, path) => findRoute(method, path), wordingOfPath }),
  creditsEndpoint,
  embeddingsEndpoint,
  rerankEndpoint,
  moderationsEndpoint,
  audioEndpoint,
  imagesEndpoint,
  filesEndpoint,
  videosEndpoint,
  healthEndpoint,
];

export const routes: readonly EndpointRoute<Gateway>[] = endpoints.flatMap((endpoint) => endpoint.routes);

/** Finds the route of a request. */
export const findRoute = createRouter(routes);

/** How errors of a path are worded, even without a route: paths below an interface use the wording of the interface. */
export function wordingOfPath(path: string, headers: RequestHeaders): Wording {
  const owner = endpoints.find(({ voice }) => voice?.owns(path));
  return owner?.voice?.wording(path, headers) ?? wordingOf(dialectOfHeaders(headers));
}
