import { beginReport } from '../shared/begin-report.ts';
import { type Endpoint, type EndpointRoute } from '../shared/endpoint.ts';
import type { ImageServices } from './image-services.ts';
import { imagesVoice } from './images-voice.ts';
import { imageOperation, pictureOperation } from './open-api/image-operations.ts';
import { imageSchemas } from './open-api/image-schemas.ts';
import { quoteImages } from './quote-images.ts';
import type { ImageRoute } from './read-images.ts';
import { serveImages } from './serve-images.ts';
import { serveLinkedImage } from './serve-linked-image.ts';

const label = 'openai-images';

function route(operation: ImageRoute): EndpointRoute<ImageServices> {
  return {
    method: 'POST',
    path: `/v1/images/${operation}`,
    identifiedBy: 'body',
    quote: () => (query) => quoteImages(query, operation),
    openApi: { operation: () => imageOperation(operation) },
    serve: (services, http) => serveImages(services, operation, http, beginReport(services, http, label)),
  };
}

/** Also serves HEAD. */
const content: EndpointRoute<ImageServices> = {
  method: 'GET',
  path: '/v1/images/:id/content',
  openApi: { operation: () => pictureOperation(true), head: () => pictureOperation(false) },
  serve: (services, http, { params }) => serveLinkedImage(services, http, params['id'] ?? ''),
};

/** Generation and edits of images, and the files of linked images. */
export const imagesEndpoint: Endpoint<ImageServices> = {
  name: 'images',
  routes: [route('generations'), route('edits'), content],
  voice: { owns: (path) => /^\/v1\/images(?:\/|$)/.test(path), wording: () => ({ voice: imagesVoice, label }) },
  schemas: imageSchemas,
};
