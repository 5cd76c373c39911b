import { carriers, content, receiptHeaders, ref, refusals } from '../../shared/open-api-parts.ts';
import type { ImageRoute } from '../read-images.ts';
import { imageEvents } from './image-schemas.ts';

const errors = [400, 401, 402, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503, 504];

const operations: Readonly<Record<ImageRoute, { readonly summary: string; readonly asked: object }>> = {
  generations: { summary: 'Make pictures', asked: content('application/json', ref('ImageGeneration')) },
  edits: {
    summary: 'Make pictures from pictures',
    asked: { ...content('application/json', ref('ImageEdit')), ...content('multipart/form-data', ref('ImageEditForm')) },
  },
};

/** Describes a route of the image interface for OpenAPI. */
export function imageOperation(route: ImageRoute): object {
  const { summary, asked } = operations[route];
  const answered = { ...content('application/json', ref('Images')), 'text/event-stream': imageEvents };
  return {
    summary,
    security: carriers,
    requestBody: { required: true, content: asked },
    responses: {
      200: { description: 'The pictures, in bytes or by their addresses.', headers: receiptHeaders, content: answered },
      ...refusals(errors, 'ImageProblem'),
    },
  };
}
