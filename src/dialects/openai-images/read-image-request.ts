import { GatewayError } from '../../inference/gateway-error.ts';
import type { ImageFormat, ImageInput, ImageRequest, ImageSize } from '../../inference/image.ts';
import { countOf, filledText, itemsOf, meaningOf, membersOf, textOf, wordOf } from '../../platform/json/json-readers.ts';
import type { JsonObject, JsonValue } from '../../platform/json/json-value.ts';
import { compileCheckLater } from '../../platform/schema/compile-check.ts';
import { describeProblems } from '../../platform/schema/describe-problems.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { readDataUrl } from '../data-url.ts';
import { isBase64 } from '../../platform/json/base64-text.ts';
import { wordOpenaiProblem, withArticle, joinWords, wordTypeName } from '../word-openai-problem.ts';
import { editFormSchema, editSchema, generationSchema, knownFields } from './request-schema.ts';

const schemas = { generate: generationSchema, edit: editSchema, form: editFormSchema };

function compileChecks(mode: ValidationMode) {
  return {
    generate: compileCheckLater(generationSchema(mode)),
    edit: compileCheckLater(editSchema(mode)),
    form: compileCheckLater(editFormSchema(mode)),
  };
}

const checks = { compatible: compileChecks('compatible'), documented: compileChecks('documented') };

const deliveries: Readonly<Record<string, 'url' | 'base64'>> = { url: 'url', b64_json: 'base64' };

const integerFields: ReadonlySet<unknown> = new Set(['n', 'output_compression', 'partial_images']);
const typeArticle = (type: string): string => (type === 'integer' ? withArticle(type) : wordTypeName(type));

const words = {
  isIntegerField: (field: string | number) => integerFields.has(field),
  wordTypes: (types: readonly string[]) =>
    types.length === 1 ? types.map(typeArticle).join('') : `one of ${joinWords(types.map(typeArticle), 'or')}`,
  wordEnum: (_name: string, actual: string, supported: string) => `Invalid value: ${actual}. ${supported}`,
  patternWords: { size: "'auto' or WIDTHxHEIGHT in pixels, such as '1024x1024'", aspect_ratio: "'auto' or WIDTH:HEIGHT, such as '16:9'" },
};

/** Refuses a body that violates the schema, with the vendor's messages. */
export function validateImageBody(body: JsonObject, kind: keyof typeof schemas, mode: ValidationMode): void {
  if (checks[mode][kind](body)) return;
  const [problem] = describeProblems(schemas[kind](mode), body, 1);
  throw problem === undefined
    ? new GatewayError('invalid_value', 'The request body does not fit the interface.')
    : wordOpenaiProblem(problem, words);
}

/**
 * Checks and reads the body of `/v1/images/generations`.
 * @throws GatewayError (400) that names the field
 */
export function readGenerationRequest(body: JsonObject, mode: ValidationMode): ImageRequest {
  validateImageBody(body, 'generate', mode);
  return toImageRequest('generate', body, []);
}

/**
 * Checks and reads a JSON body of `/v1/images/edits`.
 * @throws GatewayError (400) that names the field
 */
export function readEditRequest(body: JsonObject, mode: ValidationMode): ImageRequest {
  validateImageBody(body, 'edit', mode);
  const listed = itemsOf(body['images']).map((item, index) => readReference(item, `images[${index}]`));
  const single = body['image'] ?? undefined;
  if (single !== undefined && listed.length > 0)
    throw invalid('image', "Mutually exclusive parameters: 'image' and 'images'. Send all images in 'images'.");
  const sources = single === undefined ? listed : [readReference(single, 'image')];
  if (sources.length === 0) throw missing('images');
  const mask = body['mask'] ?? undefined;
  return toImageRequest('edit', body, sources, mask === undefined ? undefined : readReference(mask, 'mask'));
}

/** Reads the members of a body that its schema accepts. */
export function toImageRequest(
  operation: ImageRequest['operation'],
  body: JsonObject,
  sources: readonly ImageInput[],
  mask?: ImageInput,
): ImageRequest {
  const stream = body['stream'] === true;
  const partialImages = countOf(body['partial_images']) ?? 0;
  if (partialImages > 0 && !stream)
    throw invalid('partial_images', "'partial_images' requires a stream: set 'stream' to true, or omit it.");
  const fields = {
    size: readSize(body['size']),
    aspectRatio: unlessAuto(body['aspect_ratio']),
    resolution: textOf(body['resolution']),
    quality: wordOf(body['quality'], ['low', 'medium', 'high', 'standard', 'hd'] as const),
    background: wordOf(body['background'], ['transparent', 'opaque'] as const),
    outputFormat: wordOf<ImageFormat>(body['output_format'], ['png', 'jpeg', 'webp']),
    outputCompression: countOf(body['output_compression']),
    moderation: wordOf(body['moderation'], ['low'] as const),
    style: wordOf(body['style'], ['vivid', 'natural'] as const),
    inputFidelity: wordOf(body['input_fidelity'], ['high', 'low'] as const),
    delivery: meaningOf(body['response_format'], deliveries),
    mask,
    endUser: filledText(body['user']),
  };
  refuseTransparentJpeg(fields.background, fields.outputFormat);
  return {
    operation,
    requestedModel: textOf(body['model']) ?? '',
    prompt: textOf(body['prompt']) ?? '',
    count: countOf(body['n']) ?? 1,
    stream,
    partialImages,
    sources,
    otherFields: otherFieldsOf(body),
    ...withoutAbsent(fields),
  };
}

type Present<Members> = { [Name in keyof Members]?: Exclude<Members[Name], undefined> };

/** The members that have a value. Absent members are removed, not `undefined`. */
function withoutAbsent<Members extends object>(members: Members): Present<Members> {
  // The filter removes exactly the members that the type makes optional.
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined)) as Present<Members>;
}

function otherFieldsOf(body: JsonObject): Record<string, JsonValue> {
  const others: Record<string, JsonValue> = {};
  for (const [name, value] of Object.entries(body))
    if (!knownFields.has(name) && value !== undefined && name !== '__proto__') others[name] = value;
  return others;
}

const unlessAuto = (value: JsonValue | undefined): string | undefined => (value === 'auto' ? undefined : textOf(value));

function readSize(value: JsonValue | undefined): ImageSize | undefined {
  const [, width, height] = /^(\d+)x(\d+)$/.exec(textOf(value) ?? '') ?? [];
  return width === undefined || height === undefined ? undefined : { width: Number(width), height: Number(height) };
}

/** JPEG has no transparency: the vendor refuses it, and other upstreams would paint a background. */
function refuseTransparentJpeg(background: string | undefined, format: ImageFormat | undefined): void {
  if (background !== 'transparent' || format !== 'jpeg') return;
  throw invalid('background', "A transparent background requires 'output_format' 'png' or 'webp', but got 'jpeg'.");
}

function readReference(value: JsonValue, path: string): ImageInput {
  const members = membersOf(value);
  const url = filledText(members['image_url']) ?? filledText(members['url']);
  const fileId = filledText(members['file_id']);
  if (url !== undefined && fileId !== undefined)
    throw invalid(path, `Mutually exclusive parameters: '${path}.image_url' and '${path}.file_id'. Send one of them.`);
  if (fileId !== undefined) return { kind: 'file', fileId };
  if (url === undefined) throw missing(`${path}.image_url`);
  return readAddress(url, `${path}.image_url`);
}

function readAddress(url: string, path: string): ImageInput {
  if (/^https?:\/\//i.test(url)) return { kind: 'url', url };
  const inline = readDataUrl(url);
  if (inline !== undefined && /^image\/[a-z0-9.+-]{1,64}$/.test(inline.mediaType) && isBase64(inline.data))
    return { kind: 'inline', ...inline };
  throw invalid(
    path,
    `Invalid '${path}': expected an https URL or an image as 'data:image/png;base64,...', but got '${url.slice(0, 40)}'.`,
    'invalid_image_url',
  );
}

export function invalid(param: string, message: string, code = 'invalid_value'): GatewayError {
  return new GatewayError('invalid_value', message, { param, details: { openai_code: code } });
}

export function missing(param: string): GatewayError {
  return new GatewayError('missing_required_field', `Missing required parameter: '${param}'.`, {
    param,
    details: { openai_code: 'missing_required_parameter' },
  });
}
