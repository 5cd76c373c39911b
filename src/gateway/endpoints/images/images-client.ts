import { replayImages, writeImageEvent, writeImagesReply } from '../../../dialects/openai-images/image-events.ts';
import type { ImageRequest } from '../../../inference/image.ts';
import type { ImageClient } from '../shared/image-maker.ts';
import { imagesVoice } from './images-voice.ts';

/** A client of the image endpoint. If it requested a stream, a complete reply is written as stream events. */
export function imagesClient({ stream, operation }: Pick<ImageRequest, 'stream' | 'operation'>): ImageClient {
  return {
    label: 'openai-images',
    dialect: 'openai-chat',
    voice: imagesVoice,
    framing: stream ? 'sse' : undefined,
    write: (reply, createdAtSeconds) => Buffer.from(JSON.stringify(writeImagesReply(reply, createdAtSeconds))),
    replay: (reply, createdAtSeconds) => replayImages(reply).map((event) => writeImageEvent(event, { operation, createdAtSeconds })),
  };
}
