import type { ImageInput, ImageRequest } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';
import type { JsonObject } from '../../../platform/json/json-value.ts';
import { writeDataUrl } from '../../data-url.ts';
import { chooseRatio, chooseResolution } from './choose-shape.ts';
import { limitCount, noteLosses, noteOtherFields, noteWhole } from './note-losses.ts';
import { requireInline, type UpstreamImageCall } from './upstream-image-call.ts';

const editRatios = ['1:1', '16:9', '9:16', '4:3', '3:4', '3:2', '2:3', '2:1', '1:2'];
const ratios = [...editRatios, '19.5:9', '9:19.5', '20:9', '9:20'];
const countMax = 10;
const sourcesMax = 5;

/**
 * Writes a request for xAI's image interface: aspect ratios and size classes instead of sizes, and JSON for edits too.
 * Uploaded files must already be in the request.
 * @throws GatewayError untranslatable_field
 */
export function writeXaiImages(request: ImageRequest, upstreamModel: string, notes: FieldNotes): UpstreamImageCall {
  limitCount(request, countMax, notes);
  if (request.mask !== undefined) notes.refuse('mask', 'the model does not support masks: describe the change in the prompt');
  if (request.sources.length > sourcesMax)
    notes.refuse('images', `the model takes at most ${sourcesMax} images, but got ${request.sources.length}`);
  noteLosses(
    request,
    ['quality', 'background', 'outputFormat', 'outputCompression', 'moderation', 'style', 'inputFidelity', 'endUser'],
    notes,
  );
  noteWhole(request, notes);
  noteOtherFields(request, notes);
  const isEdit = request.operation === 'edit';
  const ratio = chooseRatio(request, isEdit ? editRatios : ratios, notes);
  const resolution = adaptResolution(chooseResolution(request), notes);
  const json: JsonObject = {
    model: upstreamModel,
    prompt: request.prompt,
    ...(request.count !== 1 && { n: request.count }),
    ...(ratio !== undefined && { aspect_ratio: ratio }),
    ...(resolution !== undefined && { resolution }),
    ...(request.delivery !== undefined && { response_format: request.delivery === 'url' ? 'url' : 'b64_json' }),
  };
  if (!isEdit) return { operation: 'generations', json };
  const sources = request.sources.map((source) => writeSource(source, notes));
  const [only] = sources;
  return { operation: 'edits', json: { ...json, ...(sources.length === 1 && only !== undefined ? { image: only } : { images: sources }) } };
}

function adaptResolution(resolution: string | undefined, notes: FieldNotes): string | undefined {
  if (resolution !== '4k') return resolution;
  notes.adapted('resolution', 'the largest size class of the model is 2k');
  return '2k';
}

function writeSource(input: ImageInput, notes: FieldNotes): JsonObject {
  const image = requireInline(input);
  if (image.kind === 'file') return notes.refuse('images', 'the image is stored by another vendor: send it in the request');
  return { type: 'image_url', url: image.kind === 'url' ? image.url : writeDataUrl(image) };
}
