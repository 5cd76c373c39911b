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
 * @param keepsFiles whether the gateway can keep the pictures of models that give bytes, for clients that want addresses
 * @throws GatewayError (400) for what the target cannot be asked
 */
export function writeForTarget(wanted: ImageRequest, target: Target, notes: FieldNotes, keepsFiles: boolean): UpstreamImageCall {
  const { form } = imageInterfaceOf(target);
  const { upstreamModel } = target;
  const request = needsFiles(wanted, target) ? withBytes(wanted, notes, keepsFiles) : wanted;
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

/** Whether addresses are wanted of a model that gives bytes. */
export function needsFiles({ delivery }: Pick<ImageRequest, 'delivery'>, target: Target): boolean {
  return delivery === 'url' && !givesAddresses(imageInterfaceOf(target), target.upstreamModel);
}

function givesAddresses({ form, counting }: Pick<ImageInterface, 'form' | 'counting'>, model: string): boolean {
  return form === 'xai' || (form === 'openai' && (counting === 'by-piece' || !/^(?:chat)?gpt-image/.test(model)));
}

/** The model is asked for bytes, and the gateway keeps them. Events of a stream are bytes with all vendors. */
function withBytes(request: ImageRequest, notes: FieldNotes, keepsFiles: boolean): ImageRequest {
  if (request.stream) refuseAddresses('a stream of this model has bytes and no addresses');
  if (!keepsFiles) refuseAddresses('the model gives pictures as bytes and no addresses, and this gateway keeps no files');
  notes.emulated('response_format', 'the model gives bytes: the gateway keeps them for a while');
  return { ...request, delivery: 'base64' };
}

function refuseAddresses(reason: string): never {
  const message = `response_format: ${reason}; ask for 'b64_json', or leave the field out`;
  throw new GatewayError('untranslatable_field', message, { param: 'response_format' });
}
