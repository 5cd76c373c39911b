import type { ImageReply, GeneratedImage } from '../../inference/image.ts';
import { filledText, objectsOf } from '../../platform/json/json-readers.ts';
import type { JsonObject } from '../../platform/json/json-value.ts';
import { countImages } from './image-usage.ts';
import { sniffImage } from './sniff-image.ts';

/**
 * Reads a reply of Imagen's `:predict`, which is billed per image. In an answer without predictions, all images were
 * filtered.
 */
export function readImagenReply(body: JsonObject): ImageReply | undefined {
  const { predictions = [] } = body;
  if (!Array.isArray(predictions)) return undefined;
  const images: GeneratedImage[] = [];
  const withheld: string[] = [];
  for (const prediction of objectsOf(predictions)) {
    const data = filledText(prediction['bytesBase64Encoded']);
    const revisedPrompt = filledText(prediction['prompt']);
    if (data === undefined) withheld.push(filledText(prediction['raiFilteredReason']) ?? 'The image was filtered.');
    else {
      const content = { kind: 'inline', mediaType: filledText(prediction['mimeType']) ?? sniffImage(data), data } as const;
      images.push({ content, ...(revisedPrompt !== undefined && { revisedPrompt }) });
    }
  }
  if (images.length === 0 && withheld.length === 0) withheld.push('All images were filtered.');
  const filtered = withheld.length === 0 ? {} : { isFiltered: true };
  return { images, settings: {}, usage: countImages(images.length, 0, undefined), withheld, ...filtered };
}
