import { GatewayError } from '../../inference/gateway-error.ts';
import type { ImageInput, ImageRequest } from '../../inference/image.ts';
import { invalid } from './read-image-request.ts';

/** Characters of base64 per byte. */
const base64Growth = 4 / 3;

/**
 * Reads the uploaded files of a request into it, for upstreams that accept images in JSON.
 * @param room the maximum of all files together, and a check for free memory
 * @throws GatewayError (400) if they are larger, or (503) if there is not enough memory
 */
export async function inlineUploads(
  request: ImageRequest,
  { bytesMax, holdBytes }: { readonly bytesMax: number; readonly holdBytes: (bytes: number) => boolean },
): Promise<ImageRequest> {
  const all = request.mask === undefined ? request.sources : [...request.sources, request.mask];
  const bytes = all.reduce((sum, input) => sum + (input.kind === 'upload' ? input.content.bytes : 0), 0);
  if (bytes > bytesMax)
    throw invalid('image', `The images have ${bytes} bytes together, and this model accepts at most ${bytesMax}. Send smaller images.`);
  if (!all.some(({ kind }) => kind === 'upload')) return request;
  if (!holdBytes(Math.ceil(bytes * base64Growth)))
    throw new GatewayError('overloaded', 'The gateway is overloaded: it has no room for more uploads. Please try again in 1s.', {
      retryAfterSeconds: 1,
    });
  const sources: ImageInput[] = [];
  for (const source of request.sources) sources.push(await inline(source));
  return { ...request, sources, ...(request.mask !== undefined && { mask: await inline(request.mask) }) };
}

async function inline(input: ImageInput): Promise<ImageInput> {
  if (input.kind !== 'upload') return input;
  const chunks: Buffer[] = [];
  for await (const chunk of input.content.read()) chunks.push(chunk);
  return { kind: 'inline', mediaType: input.mediaType, data: Buffer.concat(chunks).toString('base64') };
}
