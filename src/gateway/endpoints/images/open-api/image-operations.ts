import { bytes, carriers, content, receiptHeaders, ref, refusals, text } from '../../shared/open-api-parts.ts';
import type { ImageRoute } from '../read-images.ts';
import { imageEvents } from './image-schemas.ts';

const errors = [400, 401, 402, 403, 404, 408, 409, 413, 415, 429, 500, 502, 503, 504];

const operations: Readonly<Record<ImageRoute, { readonly summary: string; readonly asked: object }>> = {
  generations: { summary: 'Make images', asked: content('application/json', ref('ImageGeneration')) },
  edits: {
    summary: 'Edit images',
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
      200: { description: 'The images, as bytes or as URLs.', headers: receiptHeaders, content: answered },
      ...refusals(errors, 'ImageProblem'),
    },
  };
}

const byteRange = { name: 'Range', in: 'header', description: 'One range of bytes, such as bytes=0-1023.', schema: { type: 'string' } };
const query = (name: string, description: string): object => ({
  name,
  in: 'query',
  required: true,
  description,
  schema: { type: 'string' },
});

/** Describes the file of a linked image. @param hasBody false for HEAD */
export function pictureOperation(hasBody: boolean): object {
  const body = hasBody ? { content: { 'image/*': { schema: bytes } } } : {};
  const length = { 'content-length': { description: 'Of what is sent.', schema: text('In bytes.') } };
  return {
    summary: hasBody ? 'The file of a linked image' : 'The headers of the file of a linked image',
    security: [{}],
    parameters: [query('expires', 'The end of the link in Unix seconds.'), query('signature', 'The signature of the link.'), byteRange],
    responses: {
      200: { description: 'The file.', headers: length, ...body },
      206: { description: 'The requested range.', headers: length, ...body },
      304: { description: 'The client has it.' },
      ...refusals([404, 416, 429, 500, 502, 503], 'ImageProblem'),
    },
  };
}
