import { pixelPng } from '../sdk/steer.ts';
import type { Wire } from './wire.ts';

type Address = 'address' | 'private';

/** Media of the cases: the smallest valid files. */
export const imageData = pixelPng;
export const imageType = 'image/png';
export const pdfData = Buffer.from('%PDF-1.4\n1 0 obj<</Type/Catalog>>endobj\ntrailer<</Root 1 0 R>>\n%%EOF\n').toString('base64');
export const pdfName = 'plan.pdf';
export const wavData = Buffer.from(
  'RIFF$\0\0\0WAVEfmt \u0010\0\0\0\u0001\0\u0001\0@\u001f\0\0@\u001f\0\0\u0001\0\b\0data\0\0\0\0',
  'latin1',
).toString('base64');
export const mp4Data = Buffer.from('\0\0\0\u0018ftypmp42\0\0\0\0mp42isom', 'latin1').toString('base64');
export const documentText = 'The weir is three metres high.';
export const imageAddress = 'https://media.example/pixel.png';
export const documentAddress = 'https://media.example/plan.pdf';
/** Addresses within a private network, which a gateway neither fetches nor sends. */
const privateAddress = 'https://10.0.0.1/pixel.png';
export const privateDocumentAddress = 'https://10.0.0.1/plan.pdf';
export const vendorFile = 'file-0123456789';

export const citySchema: Wire = {
  type: 'object',
  properties: { city: { type: 'string' } },
  required: ['city'],
  additionalProperties: false,
};

/** Features of JSON Schema that older formats do not have. */
export const richSchema: Wire = {
  type: 'object',
  $defs: { place: { type: 'object', properties: { name: { type: 'string', minLength: 1 } }, required: ['name'] } },
  properties: {
    from: { $ref: '#/$defs/place' },
    to: { anyOf: [{ $ref: '#/$defs/place' }, { type: 'null' }] },
    kind: { const: 'train' },
    seats: { type: ['integer', 'null'], exclusiveMinimum: 0, default: 1 },
    when: { oneOf: [{ type: 'string', format: 'date-time' }, { type: 'integer' }] },
    tags: { type: 'array', items: { enum: ['quiet', 'fast', 3] }, uniqueItems: true },
    extras: { type: 'object', additionalProperties: { type: 'string' }, properties: {} },
  },
  required: ['from', 'kind'],
  additionalProperties: false,
};

export const weatherTool = { name: 'get_weather', description: 'The weather of a city.', schema: citySchema };
export const timeTool = { name: 'get_time', description: 'The time of a city.', schema: citySchema };

export const imageBytes = Buffer.from(imageData, 'base64').length;
export const pdfBytes = Buffer.from(pdfData, 'base64').length;
export const videoBytes = Buffer.from(mp4Data, 'base64').length;
export const wavBytes = Buffer.from(wavData, 'base64').length;

/** The address of an image. */
export const addressOf = (image: Address): string => (image === 'private' ? privateAddress : imageAddress);
