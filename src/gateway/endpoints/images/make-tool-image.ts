import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageSettings, GeneratedImage, ShownImage } from '../../../inference/image.ts';
import type { MakeImage } from '../../../tools/image-generation/make-image.ts';
import { runOwnCall } from '../shared/own-call.ts';
import type { ImageClient } from '../shared/image-maker.ts';
import { makeImages } from './image-call.ts';
import type { ImageServices } from './image-services.ts';
import { imagesClient } from './images-client.ts';

/** The key name of calls that no key made. */
const keyName = 'image generation';

/** Makes images for the tool of chats, with a model that clients could request too. */
export function makeToolImage(gateway: ImageServices, model: string): MakeImage {
  return async ({ request, owner, part, onPartial, signal }) => {
    const full = { ...request, requestedModel: model };
    let final: { readonly image: ShownImage; readonly revisedPrompt: string | undefined } | undefined;
    const finish = (made: GeneratedImage | undefined, settings: ImageSettings): Buffer => {
      const image = made === undefined ? undefined : showImage(made, settings);
      if (image !== undefined) final = { image, revisedPrompt: made?.revisedPrompt };
      return written;
    };
    // The written bytes have no reader: the tool takes each event as it is.
    const client: ImageClient = {
      ...imagesClient(full),
      write: ({ images, settings }) => finish(images[0], settings),
      replay: ({ images, settings }) => [finish(images[0], settings)],
      writeEvent: (event) => {
        if (event.kind === 'completed') return finish(event.image, event.settings);
        const image = showImage(event.image, event.settings);
        if (image !== undefined) onPartial(event.index, image);
        return written;
      },
    };
    const { userName, keyId, caller } = owner;
    const { entry } = await runOwnCall(gateway, { userName, keyId, keyName, caller, part }, signal, (call) =>
      makeImages(gateway, { ...call, admission }, { request: full, notes: [], client }),
    );
    if (final === undefined) throw new GatewayError('upstream_invalid_reply', "the image service's reply has no image");
    return { ...final, costNanoUsd: entry?.charge.amountNanoUsd ?? 0n };
  };
}

const written = Buffer.from('\n');

/** The call that the image is for holds the memory of what is sent. */
const admission = { holdBytes: () => true, releaseBytes: () => {} };

function showImage({ content }: GeneratedImage, settings: ImageSettings): ShownImage | undefined {
  return content.kind === 'inline' ? { mediaType: content.mediaType, data: content.data, settings } : undefined;
}
