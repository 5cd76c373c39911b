import { enter } from '../../admission/enter.ts';
import type { CallReport } from '../../telemetry/call-report.ts';
import type { EndpointRequest } from '../shared/endpoint.ts';
import { makeImages } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { imagesVoice } from './images-voice.ts';
import { type ImageRoute, receiveImages } from './read-images.ts';

/** Serves /v1/images. Returns when the call's first attempt runs, which goes on by itself. @throws GatewayError before anything was spent */
export async function serveImages(gateway: ImageServices, route: ImageRoute, http: EndpointRequest, report: CallReport): Promise<void> {
  const { request, response, callId } = http;
  const { clock } = gateway;
  const acceptedAtMs = clock.nowMs();
  const startedMs = clock.monotonicMs();
  const settings = gateway.settings();
  const entered = await enter(gateway, http, imagesVoice, report);
  if (entered === undefined) return;
  const { caller, admission } = entered;
  const { limits, validation } = settings;
  const holdBytes = (bytes: number): boolean => admission.holdBytes(bytes);
  const asked = await receiveImages({ request, route, limits, validation, holdBytes });
  const headers = request.headers as Readonly<Record<string, string | undefined>>;
  const disconnect = caller.disconnectPolicy ?? settings.disconnect;
  await makeImages(gateway, { callId, caller, settings, asked, headers, acceptedAtMs, startedMs, response, disconnect, admission, report });
}
