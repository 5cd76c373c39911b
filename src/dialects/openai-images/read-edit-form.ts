import type { ImageInput, ImageRequest } from '../../inference/image.ts';
import type { StreamedBody } from '../../platform/http/upstream-connection.ts';
import type { JsonValue } from '../../platform/json/json-value.ts';
import type { ValidationMode } from '../dialect-id.ts';
import { invalid, missing, toImageRequest, validateImageBody } from './read-image-request.ts';
import { sourcesMax } from './request-schema.ts';

/** A field of a form, as received. */
export type FormText = { readonly name: string; readonly value: string };

/** A file of a form. Its content is read while it is sent to the upstream. */
export type FormFile = { readonly name: string; readonly filename: string; readonly mediaType: string; readonly content: StreamedBody };

const integerFields: ReadonlySet<string> = new Set(['n', 'output_compression', 'partial_images']);
const pictureTypes = /^image\/(?:png|jpe?g|webp)$/;

/**
 * Checks and reads the form of `/v1/images/edits`. Images are the files `image`, `image[]` or `image[0]`.
 * @throws GatewayError (400) that names the field
 */
export function readEditForm(
  { texts, files }: { readonly texts: readonly FormText[]; readonly files: readonly FormFile[] },
  mode: ValidationMode,
): ImageRequest {
  const body: Record<string, JsonValue> = {};
  for (const { name, value } of texts) {
    if (Object.hasOwn(body, name)) throw invalid(name, `Duplicate parameter: '${name}'. Send it once.`);
    Object.defineProperty(body, name, { value: readValue(name, value), enumerable: true, writable: true, configurable: true });
  }
  validateImageBody(body, 'form', mode);
  const sources: ImageInput[] = [];
  let mask: ImageInput | undefined;
  for (const file of files) {
    const name = file.name.replace(/\[\d{0,3}\]$/, '');
    if (name === 'image') sources.push(readFile(file));
    else if (name !== 'mask') throw invalid(file.name, `Unexpected file '${file.name.slice(0, 80)}': expected 'image' or 'mask'.`);
    else if (mask !== undefined) throw invalid('mask', "Duplicate parameter: 'mask'. Send one file.");
    else mask = readFile(file);
  }
  if (sources.length === 0) throw missing('image');
  if (sources.length > sourcesMax)
    throw invalid('image', `Invalid 'image': expected at most ${sourcesMax} images, but got ${sources.length} instead.`);
  return toImageRequest('edit', body, sources, mask);
}

/**
 * Forms have only texts. A text is read as a number or flag if the field requires one; the schema refuses everything
 * else.
 */
function readValue(name: string, text: string): JsonValue {
  if (integerFields.has(name) && /^\d{1,9}$/.test(text)) return Number(text);
  if (name === 'stream' && (text === 'true' || text === 'false')) return text === 'true';
  return text;
}

function readFile({ name, filename, mediaType, content }: FormFile): ImageInput {
  if (pictureTypes.test(mediaType)) return { kind: 'upload', filename, mediaType, content };
  throw invalid(
    name,
    `Invalid file '${name}': unsupported mimetype ('${mediaType.slice(0, 80)}'). Supported file formats are 'image/jpeg', 'image/png', and 'image/webp'.`,
    'unsupported_file_mimetype',
  );
}
