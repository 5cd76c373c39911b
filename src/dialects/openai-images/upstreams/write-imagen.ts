import type { ImageRequest } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';
import { chooseRatio, chooseResolution } from './choose-shape.ts';
import { limitCount, noteLosses, noteOtherFields, noteWhole } from './note-losses.ts';
import type { UpstreamImageCall } from './upstream-image-call.ts';

const ratios = ['1:1', '3:4', '4:3', '9:16', '16:9'];
const countMax = 4;

/**
 * Writes a request for Imagen's `:predict`. The model is in the path, not in the body.
 * @throws GatewayError untranslatable_field
 */
export function writeImagen(request: ImageRequest, notes: FieldNotes): UpstreamImageCall {
  if (request.operation === 'edit') notes.refuse('images', 'the model generates images from text only: choose a model that edits');
  limitCount(request, countMax, notes);
  noteLosses(request, ['quality', 'background', 'moderation', 'style', 'inputFidelity', 'endUser'], notes);
  noteWhole(request, notes);
  noteOtherFields(request, notes);
  const aspectRatio = chooseRatio(request, ratios, notes);
  const outputOptions = writeOutputOptions(request, notes);
  const parameters = {
    sampleCount: request.count,
    ...(aspectRatio !== undefined && { aspectRatio }),
    ...writeClass(chooseResolution(request), notes),
    ...(outputOptions !== undefined && { outputOptions }),
    // Otherwise the vendor omits filtered images without a reason.
    includeRaiReason: true,
  };
  return { operation: 'predict', json: { instances: [{ prompt: request.prompt }], parameters } };
}

function writeClass(resolution: string | undefined, notes: FieldNotes) {
  if (resolution === undefined) return {};
  if (resolution === '4k') notes.adapted('resolution', 'the largest size class of the model is 2K');
  return { sampleImageSize: resolution === '1k' ? '1K' : '2K' };
}

function writeOutputOptions(request: ImageRequest, notes: FieldNotes) {
  const { outputFormat, outputCompression } = request;
  if (outputFormat === 'webp') {
    noteLosses(request, ['outputFormat', 'outputCompression'], notes);
    return undefined;
  }
  if (outputFormat !== 'jpeg') noteLosses(request, ['outputCompression'], notes);
  if (outputFormat === undefined) return undefined;
  const isCompressed = outputFormat === 'jpeg' && outputCompression !== undefined;
  return { mimeType: `image/${outputFormat}`, ...(isCompressed && { compressionQuality: outputCompression }) };
}
