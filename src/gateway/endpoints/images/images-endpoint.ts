import { beginReport } from '../shared/begin-report.ts';
import { type Endpoint, type EndpointRoute, repeatableByBody } from '../shared/endpoint.ts';
import type { ImageServices } from './image-services.ts';
import { imagesVoice } from './images-voice.ts';
import { imageOperation } from './open-api/image-operations.ts';
import { imageSchemas } from './open-api/image-schemas.ts';
import { quoteImages } from './quote-images.ts';
import type { ImageRoute } from './read-images.ts';
import { serveImages } from './serve-images.ts';

const label = 'openai-images';

function route(operation: ImageRoute): EndpointRoute<ImageServices> {
  return {
    method: 'POST',
    path: `/v1/images/${operation}`,
    repeatable: repeatableByBody,
    quote: () => (asked) => quoteImages(asked, operation),
    openApi: { operation: () => imageOperation(operation) },
    serve: (services, http) => serveImages(services, operation, http, beginReport(services, http, label)),
  };
}

/** Pictures from words, and from other pictures. */
export const imagesEndpoint: Endpoint<ImageServices> = {
  name: 'images',
  routes: [route('generations'), route('edits')],
  voice: { owns: (path) => /^\/v1\/images(?:\/|$)/.test(path), wording: () => ({ voice: imagesVoice, label }) },
  schemas: imageSchemas,
};
