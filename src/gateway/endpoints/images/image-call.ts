import type { CallFacts } from '../../../inference/call-facts.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import { checkAddress } from '../../attempts/exchange/private-addresses.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import { defaultImageEndpointSettings } from '../../settings/call-settings.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import { checkMediaQuota } from '../shared/check-media-quota.ts';
import type { ImageCall, ImageOrder } from '../shared/image-maker.ts';
import { startPlainCall } from '../shared/plain-call.ts';
import { boundImages } from './bound-images.ts';
import { createImageJob } from './image-job.ts';
import type { ImageServices } from './image-services.ts';
import { createImageLinks, type ImageLinks } from './image-files.ts';

/** An image request of the image endpoint. */
export type LinkedImageOrder = ImageOrder & {
  /** Scheme and host by which its client reaches the gateway, for image links. Absent if it gets none. */
  readonly baseUrl?: string;
  /** Called when the request is no longer needed. */
  readonly forget?: () => void;
};

/** The facts of an image request, for routing, limits and the books. */
export function imageFacts({ requestedModel, stream, prompt }: ImageRequest): CallFacts {
  return { requestedModel, stream, inputCharacters: prompt.length, needs: [] };
}

/** Starts an image call (see `startPlainCall`). */
export async function makeImages(gateway: ImageServices, call: ImageCall, order: LinkedImageOrder): Promise<void> {
  const { settings, caller, headers, admission } = call;
  const { request, client, notes, forget } = order;
  const { label, voice, framing } = client;
  refusePrivateSources(request, settings);
  await startPlainCall(gateway, call, {
    kind: 'image',
    label,
    voice,
    framing,
    facts: { ...imageFacts(request), stream: framing !== undefined },
    bound: () => (target) => boundImages(request, target),
    createJob: (purchase) =>
      createImageJob({
        ...call,
        request,
        client,
        clientNotes: notes,
        strict: asksForStrict(caller, headers),
        purchase,
        requestBytesMax: settings.limits.requestBytesMax,
        admission,
        forget,
        links: openLinks(gateway, call, order),
      }),
  });
}

/** Upstreams fetch image URLs. @throws GatewayError `invalid_value` for a URL in a private network */
function refusePrivateSources({ sources, mask }: ImageRequest, { allowsPrivateMedia }: GatewaySettings): void {
  if (allowsPrivateMedia === true) return;
  for (const [index, source] of sources.entries()) if (source.kind === 'url') checkAddress(source.url, `images[${index}].image_url`);
  if (mask?.kind === 'url') checkAddress(mask.url, 'mask.image_url');
}

/** Creates the links of the images. Undefined if the client wants none, or the gateway stores no files. */
function openLinks(
  gateway: ImageServices,
  { callId, caller, settings }: ImageCall,
  { request, baseUrl }: LinkedImageOrder,
): ImageLinks | undefined {
  const { pictures: files, clock, logger, newId } = gateway;
  if (files === undefined || baseUrl === undefined || request.delivery !== 'url') return undefined;
  const { limits, videos, images } = settings;
  const { linkHours } = images ?? defaultImageEndpointSettings;
  return {
    checkRoom: () => checkMediaQuota({ store: files.store, caller, userBytesMax: videos.userBytesMax }),
    link: createImageLinks({ files, clock, logger, newId, callId, caller, baseUrl, linkHours, bytesMax: limits.replyBytesMax }),
  };
}
