import type { ImageInput, ImageRequest } from '../../inference/image.ts';
import { invalid } from './read-image-request.ts';

/**
 * Reads the uploaded files of a request into it, for upstreams that take pictures within JSON.
 * @param bytesMax of all files together
 * @throws GatewayError (400) where they are larger
 */
export async function inlineUploads(request: ImageRequest, bytesMax: number): Promise<ImageRequest> {
  const all = request.mask === undefined ? request.sources : [...request.sources, request.mask];
  const bytes = all.reduce((sum, input) => sum + (input.kind === 'upload' ? input.content.bytes : 0), 0);
  if (bytes > bytesMax)
    throw invalid('image', `The pictures have ${bytes} bytes together, and this model takes at most ${bytesMax}. Send smaller ones.`);
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
