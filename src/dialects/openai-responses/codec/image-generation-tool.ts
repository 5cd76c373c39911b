import { GatewayError } from '../../../inference/gateway-error.ts';
import type { ImageSize, ShownImage } from '../../../inference/image.ts';
import type { ImageGenerationTool, ToolFinding } from '../../../inference/inference-request.ts';
import { countOf, filledText, membersOf, textOf, wordOf } from '../../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { readDataUrl } from '../../data-url.ts';

/** Members of the tool that have a neutral name. The gateway has its own `model`. */
export const imageToolMembers = [
  'type',
  'action',
  'background',
  'input_fidelity',
  'input_image_mask',
  'moderation',
  'output_compression',
  'output_format',
  'partial_images',
  'quality',
  'size',
];

const partialImagesMax = 3;

/**
 * Reads the tool that makes images.
 * @throws GatewayError `invalid_value` for a value that the interface does not have
 */
export function decodeImageGeneration(tool: JsonObject, path: string): ImageGenerationTool {
  const member = <Value>(name: string, read: (value: JsonValue) => Value | undefined, expected: string): Value | undefined => {
    const value = tool[name];
    if (value === undefined || value === null || value === 'auto') return undefined;
    const setting = read(value);
    const param = `${path}.${name}`;
    if (setting === undefined) throw new GatewayError('invalid_value', `${param}: must be ${expected}`, { param });
    return setting;
  };
  const oneOf = <Word extends string>(name: string, words: readonly Word[]): Word | undefined =>
    member(name, (value) => wordOf(value, words), `one of ${words.join(', ')}`);
  const atMost = (name: string, most: number): number | undefined =>
    member(name, (value) => ((countOf(value) ?? Infinity) <= most ? countOf(value) : undefined), `an integer from 0 to ${most}`);
  const settings = {
    size: member('size', readSize, "'auto' or a size such as '1024x1536'"),
    quality: oneOf('quality', ['low', 'medium', 'high']),
    background: oneOf('background', ['transparent', 'opaque']),
    outputFormat: oneOf('output_format', ['png', 'webp', 'jpeg']),
    outputCompression: atMost('output_compression', 100),
    moderation: oneOf('moderation', ['low']),
    inputFidelity: oneOf('input_fidelity', ['high', 'low']),
    mask: member('input_image_mask', readMask, 'an object with image_url'),
  };
  return {
    kind: 'image-generation',
    settings: Object.fromEntries(Object.entries(settings).filter(([, value]) => value !== undefined)),
    action: oneOf('action', ['generate', 'edit']) ?? 'auto',
    partialImages: atMost('partial_images', partialImagesMax) ?? 0,
    wire: tool,
    path,
  };
}

function readSize(value: JsonValue): ImageSize | undefined {
  const [, width, height] = /^(\d{2,5})x(\d{2,5})$/.exec(textOf(value) ?? '') ?? [];
  return width === undefined || height === undefined ? undefined : { width: Number(width), height: Number(height) };
}

function readMask(value: JsonValue): NonNullable<ImageGenerationTool['settings']['mask']> | undefined {
  const url = filledText(membersOf(value).image_url);
  if (url === undefined) return undefined;
  const inline = readDataUrl(url);
  return inline === undefined ? { kind: 'url', url } : { kind: 'inline', ...inline };
}

/** The settings of an image as members of its item and of its events. */
function writeSettings({ mediaType, settings }: ShownImage): JsonObject {
  const format = settings.outputFormat ?? mediaType?.replace(/^image\//, '');
  return {
    ...(settings.size !== undefined && { size: settings.size }),
    ...(settings.quality !== undefined && { quality: settings.quality }),
    ...(settings.background !== undefined && { background: settings.background }),
    ...(format !== undefined && { output_format: format }),
  };
}

/** The members of an item for its image. `result` is null if there is none. */
export function writeImageResult([finding]: readonly ToolFinding[]): JsonObject {
  const { image, text } = finding ?? {};
  if (image === undefined) return { result: null };
  return { ...writeSettings(image), ...(text !== undefined && { revised_prompt: text }), result: image.data };
}

/** The members of an event with a partial image, as JSON text. */
export function writePartialImage(number: number, image: ShownImage): string {
  const members = { partial_image_index: number, partial_image_b64: image.data, ...writeSettings(image) };
  return `,${JSON.stringify(members).slice(1, -1)}`;
}
