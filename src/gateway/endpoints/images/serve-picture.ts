import { GatewayError } from '../../../inference/gateway-error.ts';
import type { StoredPicture } from '../../../tasks/media/picture-store.ts';
import { enterGate } from '../../admission/overload/enter-gate.ts';
import { disconnectSignal, imageContent, serveFile } from '../shared/content/serve-file.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import type { ImageServices } from './image-services.ts';
import { imagesVoice } from './images-voice.ts';

/**
 * Serves the file of a picture to whoever has its link. Those share the place of one tenant for each owner, beside the
 * owner's own.
 * @throws GatewayError
 */
export async function servePicture(gateway: ImageServices, http: EndpointRequest, id: string): Promise<void> {
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

/** The picture that a link opens. Whatever is wrong, the words are the same. @throws GatewayError */
async function findLinked({ pictures, clock }: ImageServices, { target }: EndpointRequest, id: string): Promise<StoredPicture> {
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
  throw new GatewayError('object_not_found', 'There is no picture at this address: the link is not right, or has expired.');
}

function refuseUnread(cause: unknown): never {
  throw new GatewayError('result_unavailable', 'Pictures cannot be read at the moment.', { cause, internal: 'the owner of a link' });
}
