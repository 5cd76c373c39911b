import { GatewayError } from '../../../inference/gateway-error.ts';
import type { StoredImage } from '../../../tasks/media/image-store.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import { disconnectSignal, imageContent, serveFile } from '../shared/content/serve-file.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { ImageServices } from './image-services.ts';
import { imagesVoice } from './images-voice.ts';

/**
 * Serves the file of a linked image. For the fair gate, all links of a user are one tenant, separate from the user's
 * own calls.
 * @throws GatewayError
 */
export async function serveLinkedImage(gateway: ImageServices, http: EndpointRequest, id: string): Promise<void> {
  const picture = await findLinked(gateway, http, id);
  const { pictures, gatekeeper, logger } = gateway;
  const { request, client: response, callId } = http;
  const admission = await enterGate(
    gatekeeper,
    { callId, request, response, voice: imagesVoice },
    undefined,
    `links of ${picture.userName}`,
  );
  if (admission === undefined || pictures === undefined) return;
  const { stalledReaderMs } = gateway.settings().timeouts;
  const context = { storage: pictures.storage, logger, request, response, callId, signal: disconnectSignal(response), stalledReaderMs };
  await serveFile(context, { id: picture.id, kind: imageContent, media: picture.media });
}

/** Finds the image of a link. All failures have the same message. @throws GatewayError */
async function findLinked({ pictures, clock }: ImageServices, { target }: EndpointRequest, id: string): Promise<StoredImage> {
  const nowMs = clock.nowMs();
  const link = pictures?.links.read(id, target.query, nowMs);
  const picture = link === undefined ? undefined : await pictures?.store.findPicture(id).catch(refuseUnread);
  if (
    link !== undefined &&
    picture !== undefined &&
    pictures?.links.isSigned(link, picture.userName) === true &&
    picture.expiresAtMs > nowMs
  )
    return picture;
  throw new GatewayError('object_not_found', 'There is no image at this address: the link is invalid or has expired.');
}

function refuseUnread(cause: unknown): never {
  throw new GatewayError('result_unavailable', 'Images cannot be read at the moment.', { cause, internal: 'the owner of a link' });
}
