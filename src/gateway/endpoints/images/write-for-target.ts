import type { UpstreamImageCall } from '../../../dialects/openai-images/upstreams/upstream-image-call.ts';
import { writeGeminiImages } from '../../../dialects/openai-images/upstreams/write-gemini-images.ts';
import { writeImagen } from '../../../dialects/openai-images/upstreams/write-imagen.ts';
import { writeOpenaiImages } from '../../../dialects/openai-images/upstreams/write-openai-images.ts';
import { writeXaiImages } from '../../../dialects/openai-images/upstreams/write-xai-images.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';
import type { ImageInterface } from '../../../upstreams/image-interfaces.ts';
import type { Target } from '../../attempts/routing/target.ts';
import { imageInterfaceOf } from './bound-images.ts';

/**
 * Encodes the request for a target. For a target that takes JSON, uploads must be inline already.
 * @param keepsFiles whether the gateway can store linked images
 * @throws GatewayError (400) for settings that the target does not support
 */
export function writeForTarget(original: ImageRequest, target: Target, notes: FieldNotes, keepsFiles: boolean): UpstreamImageCall {
  const { form } = imageInterfaceOf(target);
  const { upstreamModel } = target;
  const request = needsFiles(original, target) ? withBytes(original, notes, keepsFiles) : original;
  switch (form) {
    case 'openai':
      return writeOpenaiImages(request, upstreamModel, notes);
    case 'xai':
      return writeXaiImages(withDelivery(request), upstreamModel, notes);
    case 'gemini':
      return writeGeminiImages(request, upstreamModel, notes);
    case 'imagen':
      return writeImagen(request, notes);
  }
}

/** The default is bytes: a URL of the vendor expires, and the client must reach one more host. */
function withDelivery(request: ImageRequest): ImageRequest {
  return request.delivery === undefined ? { ...request, delivery: 'base64' } : request;
}

/** Whether the client wants URLs and the model returns bytes. */
export function needsFiles({ delivery }: Pick<ImageRequest, 'delivery'>, target: Target): boolean {
  return delivery === 'url' && !returnsUrls(imageInterfaceOf(target), target.upstreamModel);
}

function returnsUrls({ form, counting }: Pick<ImageInterface, 'form' | 'counting'>, model: string): boolean {
  return form === 'xai' || (form === 'openai' && (counting === 'by-piece' || !/^(?:chat)?gpt-image/.test(model)));
}

/** Requests bytes, which the gateway stores. Stream events have bytes at all vendors. */
function withBytes(request: ImageRequest, notes: FieldNotes, keepsFiles: boolean): ImageRequest {
  if (request.stream) refuseUrls('streams of this model have no URLs');
  if (!keepsFiles) refuseUrls('this model returns bytes, and this gateway stores no files');
  notes.emulated('response_format', 'the model returns bytes; the gateway stores them for a limited time');
  return { ...request, delivery: 'base64' };
}

function refuseUrls(reason: string): never {
  const message = `response_format: ${reason}; send 'b64_json', or omit the field`;
  throw new GatewayError('untranslatable_field', message, { param: 'response_format' });
}
