import type { ImageInput, ImageRequest } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { chooseRatio, chooseResolution } from './choose-shape.ts';
import { limitCount, noteLosses, noteOtherFields, noteWhole } from './note-losses.ts';
import { requireInline, type UpstreamImageCall } from './upstream-image-call.ts';

const ratios = ['1:1', '2:3', '3:2', '3:4', '4:3', '4:5', '5:4', '9:16', '16:9', '21:9'];

/**
 * Writes an image request for generate-content. The model is in the path, not in the body. Uploaded files must already
 * be in the request.
 * @throws GatewayError untranslatable_field
 */
export function writeGeminiImages(request: ImageRequest, upstreamModel: string, notes: FieldNotes): UpstreamImageCall {
  limitCount(request, 1, notes);
  if (request.mask !== undefined) notes.refuse('mask', 'the model does not support masks: describe the change in the prompt');
  noteLosses(
    request,
    ['quality', 'background', 'outputFormat', 'outputCompression', 'moderation', 'style', 'inputFidelity', 'endUser'],
    notes,
  );
  noteWhole(request, notes);
  noteOtherFields(request, notes);
  const aspectRatio = chooseRatio(request, ratios, notes);
  const imageSize = chooseImageSize(request, upstreamModel, notes);
  const imageConfig = { ...(aspectRatio !== undefined && { aspectRatio }), ...(imageSize !== undefined && { imageSize }) };
  const json: JsonObject = {
    contents: [{ role: 'user', parts: [{ text: request.prompt }, ...request.sources.map((source) => writePart(source, notes))] }],
    generationConfig: { responseModalities: ['IMAGE'], ...(Object.keys(imageConfig).length > 0 && { imageConfig }) },
  };
  return { operation: 'generateContent', json };
}

/** Models before the third generation have one size class and refuse the field. */
function chooseImageSize(request: ImageRequest, model: string, notes: FieldNotes): string | undefined {
  const isOld = /^gemini-[12]\b/.test(model);
  if (isOld) noteLosses(request, ['resolution'], notes);
  return isOld ? undefined : chooseResolution(request)?.toUpperCase();
}

function writePart(input: ImageInput, notes: FieldNotes): JsonObject {
  const image = requireInline(input);
  if (image.kind === 'inline') return { inlineData: { mimeType: image.mediaType, data: image.data } };
  if (image.kind === 'url') return { fileData: { fileUri: image.url } };
  return notes.refuse('images', 'the image is stored by another vendor: send it in the request');
}
