import { GatewayError } from '../../inference/gateway-error.ts';
import type { ImageInput, ImageRequest } from '../../inference/image.ts';
import { invalid } from './read-image-request.ts';

/** Bytes of base64 for a byte. */
const base64Growth = 4 / 3;

/**
 * Reads the uploaded files of a request into it, for upstreams that take pictures within JSON.
 * @param room what all files together may have, and whether there is room for so much in memory
 * @throws GatewayError (400) where they are larger, and where there is none
 */
export async function inlineUploads(
  request: ImageRequest,
  { bytesMax, holdBytes }: { readonly bytesMax: number; readonly holdBytes: (bytes: number) => boolean },
): Promise<ImageRequest> {
  const all = request.mask === undefined ? request.sources : [...request.sources, request.mask];
  const bytes = all.reduce((sum, input) => sum + (input.kind === 'upload' ? input.content.bytes : 0), 0);
  if (bytes > bytesMax)
    throw invalid('image', `The pictures have ${bytes} bytes together, and this model takes at most ${bytesMax}. Send smaller ones.`);
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
