import type { CallFacts } from '../../../inference/call-facts.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import { checkAddress } from '../../attempts/exchange/private-addresses.ts';
import type { GatewaySettings } from '../../attempts/services.ts';
import { defaultPictureSettings } from '../../settings/call-settings.ts';
import { asksForStrict } from '../shared/asks-for-strict.ts';
import { checkMediaQuota } from '../shared/check-media-quota.ts';
import type { PictureCall, PictureOrder } from '../shared/picture-maker.ts';
import { startPlainCall } from '../shared/plain-call.ts';
import { boundImages } from './bound-images.ts';
import { createImageJob } from './image-job.ts';
import type { ImageServices } from './image-services.ts';
import { createPictureLinks, type PictureLinks } from './picture-files.ts';

/** A request for pictures, and what its own interface says besides. */
export type ImageOrder = PictureOrder & {
  /** Scheme and host under which its client reaches the gateway, for addresses of pictures. Absent where it wants none. */
  readonly baseUrl?: string;
  /** Called when nothing of the request is needed any more. */
  readonly forget?: () => void;
};

/** What routing, limits and the books need to know of a request for pictures. */
export function imageFacts({ requestedModel, stream, prompt }: ImageRequest): CallFacts {
  return { requestedModel, stream, inputCharacters: prompt.length, needs: [] };
}

/** Makes a call for pictures, as `startPlainCall` does. */
export async function makeImages(gateway: ImageServices, call: PictureCall, order: ImageOrder): Promise<void> {
  const { settings, caller, headers, admission } = call;
  const { asked, client, notes, forget } = order;
  const { label, voice, framing } = client;
  refusePrivateSources(asked, settings);
  await startPlainCall(gateway, call, {
    kind: 'image',
    label,
    voice,
    framing,
    facts: { ...imageFacts(asked), stream: framing !== undefined },
    bound: () => (target) => boundImages(asked, target),
    createJob: (purchase) =>
      createImageJob({
        ...call,
        asked,
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

/** An upstream fetches what a request names. @throws GatewayError `invalid_value` for a picture in a private network */
function refusePrivateSources({ sources, mask }: ImageRequest, { allowsPrivateMedia }: GatewaySettings): void {
  if (allowsPrivateMedia === true) return;
  for (const [index, source] of sources.entries()) if (source.kind === 'url') checkAddress(source.url, `images[${index}].image_url`);
  if (mask?.kind === 'url') checkAddress(mask.url, 'mask.image_url');
}

/** What gives the pictures addresses. Undefined where none are wanted, or no files are kept. */
function openLinks(
  gateway: ImageServices,
  { callId, caller, settings }: PictureCall,
  { asked, baseUrl }: ImageOrder,
): PictureLinks | undefined {
  const { pictures: files, clock, logger, newId } = gateway;
  if (files === undefined || baseUrl === undefined || asked.delivery !== 'url') return undefined;
  const { limits, videos, images } = settings;
  const { linkHours } = images ?? defaultPictureSettings;
  return {
    checkRoom: () => checkMediaQuota({ store: files.store, caller, userBytesMax: videos.userBytesMax }),
    link: createPictureLinks({ files, clock, logger, newId, callId, caller, baseUrl, linkHours, bytesMax: limits.replyBytesMax }),
  };
}
