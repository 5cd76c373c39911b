import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { readRequest } from '../../admission/read-request.ts';
import { defaultImageEndpointSettings } from '../../settings/call-settings.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import { discardRest } from '../shared/discard-rest.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { type AdmittedCall, admitCall } from '../shared/plain-call.ts';
import { publicBaseUrl } from '../shared/public-base-url.ts';
import { takeUploadSlot } from '../shared/receive-uploads.ts';
import type { HeldUploads } from './held-uploads.ts';
import { makeImages } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { imagesClient } from './images-client.ts';
import { imagesVoice } from './images-voice.ts';
import { type ImageRoute, readImages } from './read-images.ts';
import { isForm, receiveEditForm } from './receive-edit-form.ts';

/**
 * Serves /v1/images. Returns when the first attempt runs.
 * @throws GatewayError before anything was spent
 */
export async function serveImages(gateway: ImageServices, route: ImageRoute, http: EndpointRequest, report: CallReport): Promise<void> {
  const call = await admitCall(gateway, http, imagesVoice, report);
  if (call === undefined) return;
  const { request, uploads } = await receiveImages(gateway, http, { route, call });
  const { videos, isProxy } = call.settings;
  const baseUrl = publicBaseUrl(http.request, { publicUrl: videos.publicUrl, isProxy });
  const order = { request, notes: [], client: imagesClient(request), baseUrl };
  if (uploads === undefined) return await makeImages(gateway, call, order);
  const end = (): void => uploads.end();
  http.response.once('close', end);
  if (http.response.destroyed) end();
  try {
    await makeImages(gateway, call, { ...order, forget: end });
  } catch (error) {
    end();
    throw error;
  }
}

/** A received request and its files. */
type Received = { readonly request: ImageRequest; readonly uploads?: HeldUploads };

type Receiving = { readonly route: ImageRoute; readonly call: AdmittedCall & { readonly admission: Admission } };

/** Receives a request: JSON, or for edits a form with the images. @throws GatewayError */
async function receiveImages(gateway: ImageServices, { request, target }: EndpointRequest, { route, call }: Receiving): Promise<Received> {
  const { admission, caller } = call;
  const { limits, validation, images } = call.settings;
  if (route !== 'edits' || !isForm(request)) {
    const { bytes, body } = await readRequest(request, limits, (held) => admission.holdBytes(held), target.model);
    admission.holdBytes(bytes.length);
    call.report.recorder?.request(bytes);
    return { request: readImages(body, route, validation) };
  }
  const { uploads: spool } = gateway;
  if (spool === undefined) throw new GatewayError('route_not_found', 'this gateway accepts no uploads');
  const { uploadBytesMax } = images ?? defaultImageEndpointSettings;
  try {
    const slot = await takeUploadSlot(gateway, caller);
    return await receiveEditForm({ request, limits, validation, admission, spool, uploadBytesMax, model: target.model }).finally(
      slot.release,
    );
  } finally {
    // The rest of a refused body is not needed.
    discardRest(request);
  }
}
