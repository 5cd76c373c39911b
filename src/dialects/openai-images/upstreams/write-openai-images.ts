import type { ImageInput, ImageRequest, ImageSize } from '../../../inference/image.ts';
import type { FieldNotes } from '../../../inference/translation-notes.ts';
import type { MultipartPart } from '../../../platform/http/multipart-body.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { writeDataUrl } from '../../data-url.ts';
import { chooseSize, writeSize } from './choose-shape.ts';
import { noteLosses } from './note-losses.ts';
import { requireInline, type UpstreamImageCall } from './upstream-image-call.ts';

/**
 * How a model of this interface differs from the others. Models of self-hosted servers are treated as the newest, and
 * receive all fields of the client.
 */
type ModelFamily = 'dall-e-2' | 'dall-e-3' | 'gpt-image' | 'other';

function familyOf(model: string): ModelFamily {
  if (/^dall-e-[23]/.test(model)) return model.startsWith('dall-e-2') ? 'dall-e-2' : 'dall-e-3';
  return /^(?:gpt-image|chatgpt-image)/.test(model) ? 'gpt-image' : 'other';
}

const square: ImageSize = { width: 1024, height: 1024 };
const sizes: Readonly<Record<ModelFamily, readonly ImageSize[]>> = {
  'dall-e-2': [square],
  'dall-e-3': [square, { width: 1792, height: 1024 }, { width: 1024, height: 1792 }],
  'gpt-image': [square, { width: 1536, height: 1024 }, { width: 1024, height: 1536 }],
  other: [square, { width: 1536, height: 1024 }, { width: 1024, height: 1536 }],
};

const newerMembers = ['background', 'outputFormat', 'outputCompression', 'moderation'] as const;

/**
 * Writes a request for OpenAI's image interface. An edit is a form if its images are uploads or inline data, and JSON
 * if one is an address or an id.
 * @throws GatewayError untranslatable_field
 */
export function writeOpenaiImages(request: ImageRequest, upstreamModel: string, notes: FieldNotes): UpstreamImageCall {
  const family = familyOf(upstreamModel);
  const members = writeMembers(request, upstreamModel, family, notes);
  if (request.operation === 'generate') return { operation: 'generations', json: members };
  const inputs = request.mask === undefined ? request.sources : [...request.sources, request.mask];
  if (inputs.every(({ kind }) => kind === 'inline' || kind === 'upload')) return { operation: 'edits', form: writeForm(request, members) };
  const { mask } = request;
  const images = request.sources.map(writeReference);
  return { operation: 'edits', json: { ...members, images, ...(mask !== undefined && { mask: writeReference(mask) }) } };
}

function writeMembers(request: ImageRequest, model: string, family: ModelFamily, notes: FieldNotes): JsonObject {
  const size = chooseSize(request, sizes[family], notes);
  noteLosses(request, ['resolution'], notes);
  const isOld = family === 'dall-e-2' || family === 'dall-e-3';
  if (isOld) {
    noteLosses(request, newerMembers, notes);
    if (request.stream) notes.emulated('stream', 'the model does not stream: finished images are sent as the events of a stream');
    if (request.partialImages > 0) notes.dropped('partial_images', 'the model sends no partial images');
  }
  // These models always return bytes and refuse the field.
  const delivery = family === 'gpt-image' ? undefined : request.delivery;
  if (family === 'gpt-image') noteLosses(request, ['style'], notes);
  const { count, quality, style, outputCompression: compression, partialImages } = request;
  return {
    model,
    prompt: request.prompt,
    ...(count !== 1 && { n: count }),
    ...(size !== undefined && { size: writeSize(size) }),
    ...(quality !== undefined && { quality: adaptQuality(quality, family, notes) }),
    ...(delivery !== undefined && { response_format: delivery === 'url' ? 'url' : 'b64_json' }),
    ...(style !== undefined && family !== 'gpt-image' && { style }),
    ...(request.inputFidelity !== undefined && { input_fidelity: request.inputFidelity }),
    ...(request.endUser !== undefined && { user: request.endUser }),
    ...(!isOld && {
      ...(request.background !== undefined && { background: request.background }),
      ...(request.outputFormat !== undefined && { output_format: request.outputFormat }),
      ...(compression !== undefined && { output_compression: compression }),
      ...(request.moderation !== undefined && { moderation: request.moderation }),
      ...(request.stream && { stream: true, ...(partialImages > 0 && { partial_images: partialImages }) }),
    }),
    ...request.otherFields,
  };
}

/** The older models have two quality values, the newer ones three. */
function adaptQuality(quality: NonNullable<ImageRequest['quality']>, family: ModelFamily, notes: FieldNotes): string {
  const isOldWord = quality === 'standard' || quality === 'hd';
  const adapted =
    family === 'gpt-image' && isOldWord
      ? ({ standard: 'medium', hd: 'high' } as const)[quality]
      : family === 'dall-e-3' && !isOldWord
        ? ({ low: 'standard', medium: 'standard', high: 'hd' } as const)[quality]
        : quality;
  if (adapted !== quality) notes.adapted('quality', `the model's value for it is ${adapted}`);
  return adapted;
}

function writeForm({ sources, mask }: ImageRequest, members: JsonObject): readonly MultipartPart[] {
  const texts = Object.entries(members).flatMap(([name, value]) =>
    value === undefined || value === null ? [] : [{ name, value: writeText(value) }],
  );
  const name = sources.length === 1 ? 'image' : 'image[]';
  const files = sources.map((source, index) => writeFile(name, `image-${index + 1}`, source));
  return [...texts, ...files, ...(mask === undefined ? [] : [writeFile('mask', 'mask', mask)])];
}

const writeText = (value: JsonValue): string => (typeof value === 'string' ? value : JSON.stringify(value));

function writeFile(name: string, title: string, input: ImageInput): MultipartPart {
  if (input.kind === 'upload') return { name, filename: input.filename, type: input.mediaType, content: input.content };
  if (input.kind !== 'inline') throw new TypeError('only inline images can be written into a form');
  const bytes = Buffer.from(input.data, 'base64');
  const filename = `${title}.${input.mediaType.slice('image/'.length).replace('jpeg', 'jpg')}`;
  return { name, filename, type: input.mediaType, content: { bytes: bytes.length, read: () => once(bytes) } };
}

// oxlint-disable-next-line typescript/require-await -- bodies are read by `for await`
async function* once(bytes: Buffer): AsyncGenerator<Buffer> {
  yield bytes;
}

function writeReference(input: ImageInput): JsonObject {
  const image = requireInline(input);
  if (image.kind === 'file') return { file_id: image.fileId };
  return { image_url: image.kind === 'url' ? image.url : writeDataUrl(image) };
}
