import type { UpstreamImageCall } from '../../../dialects/openai-images/upstreams/upstream-image-call.ts';
import { writeGeminiPicture } from '../../../dialects/openai-images/upstreams/write-gemini-picture.ts';
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
 * Writes the request as a target takes it. What is uploaded must be in it already where the target takes JSON.
 * @throws GatewayError (400) for what the target cannot be asked
 */
export function writeForTarget(request: ImageRequest, target: Target, notes: FieldNotes): UpstreamImageCall {
  const { form, counting } = imageInterfaceOf(target);
  const { upstreamModel } = target;
  if (request.delivery === 'url' && !givesAddresses({ form, counting }, upstreamModel)) refuseAddresses();
  switch (form) {
    case 'openai':
      return writeOpenaiImages(request, upstreamModel, notes);
    case 'xai':
      return writeXaiImages(withDelivery(request), upstreamModel, notes);
    case 'gemini':
      return writeGeminiPicture(request, upstreamModel, notes);
    case 'imagen':
      return writeImagen(request, notes);
  }
}

/** Without a word from the client, bytes: an address of the vendor's is one more place to be asked, and it expires. */
function withDelivery(request: ImageRequest): ImageRequest {
  return request.delivery === undefined ? { ...request, delivery: 'base64' } : request;
}

function givesAddresses({ form, counting }: Pick<ImageInterface, 'form' | 'counting'>, model: string): boolean {
  return form === 'xai' || (form === 'openai' && (counting === 'by-piece' || !/^(?:chat)?gpt-image/.test(model)));
}

function refuseAddresses(): never {
  const message = "response_format: the model gives pictures as bytes and no addresses; ask for 'b64_json', or leave the field out";
  throw new GatewayError('untranslatable_field', message, { param: 'response_format' });
}
