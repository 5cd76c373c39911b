import type { DialectId } from '../../../dialects/dialect-id.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** A user's file that is put into a request. */
export type LoadedFile = {
  readonly filename: string;
  readonly mediaType: string;
  /** The content of a text file; undefined for other kinds. */
  readonly text: string | undefined;
  readonly base64: string;
};

/** A place in a request that names a file. */
export type FilePlace = {
  readonly fileId: string;
  /** Steps from the object with the name to the id. */
  readonly steps: readonly (string | number)[];
  /** The object with the file in it. Absent if the place accepts only an id. @throws GatewayError `invalid_value` */
  readonly fill?: (file: LoadedFile, param: string) => JsonObject;
};

/** Reads the files that an object names. `key` is the name of its member, or of the list that contains it. */
type ReadPlaces = (object: JsonObject, key: string) => readonly FilePlace[];

/** How the requests of a dialect name files. */
export type FileDialect = {
  /** Members of the body that can name files. */
  readonly roots: readonly string[];
  /** Members that contain output of a model, or a schema. An id in them names nothing. */
  readonly opaque: ReadonlySet<string>;
  readonly readPlaces: ReadPlaces;
};

const filled = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function refuseKind({ filename, mediaType }: LoadedFile, required: string, param: string): never {
  throw new GatewayError(
    'invalid_value',
    `${param}: the file ${JSON.stringify(filename)} is ${mediaType}; this field requires ${required}`,
    {
      param,
    },
  );
}

const dataUrl = (mediaType: string, base64: string): string => `data:${mediaType};base64,${base64}`;

function imageUrl(file: LoadedFile, param: string): string {
  return file.mediaType.startsWith('image/') ? dataUrl(file.mediaType, file.base64) : refuseKind(file, 'an image', param);
}

/** Images in Responses: in messages, in tool results, and masks. */
const responsesImages: ReadonlySet<JsonValue | undefined> = new Set(['input_image', 'computer_screenshot']);

function readResponsesPlaces(object: JsonObject, key: string): readonly FilePlace[] {
  const { file_id: id, file_ids: ids } = object;
  if (key === 'container' && Array.isArray(ids))
    return ids.flatMap((each, index) => (typeof each === 'string' ? [{ fileId: each, steps: ['file_ids', index] }] : []));
  const fileId = filled(id);
  if (fileId === undefined) return [];
  const place = { fileId, steps: ['file_id'] };
  const { file_id: _id, ...rest } = object;
  if (responsesImages.has(object.type) || key === 'input_image_mask')
    return [{ ...place, fill: (file, param) => ({ ...rest, image_url: imageUrl(file, param) }) }];
  if (object.type !== 'input_file') return [];
  // Text is always sent as plain text: every route of the gateway, and the vendor, can read that.
  const fill = (file: LoadedFile): JsonObject => ({
    ...rest,
    filename: filled(rest.filename) ?? file.filename,
    file_data: dataUrl(file.text === undefined ? file.mediaType : 'text/plain', file.base64),
  });
  return [{ ...place, fill }];
}

/** The source of a document or an image. The vendor accepts PDF and text as documents. */
function messagesSource(isImage: boolean, file: LoadedFile, param: string): JsonObject {
  const { mediaType, text, base64 } = file;
  if (isImage && !mediaType.startsWith('image/')) refuseKind(file, 'an image', param);
  if (!isImage && text !== undefined) return { type: 'text', media_type: 'text/plain', data: text };
  if (!isImage && mediaType !== 'application/pdf') refuseKind(file, 'a PDF or a text', param);
  return { type: 'base64', media_type: mediaType, data: base64 };
}

function readMessagesPlaces(block: JsonObject): readonly FilePlace[] {
  const uploaded = block.type === 'container_upload' ? filled(block.file_id) : undefined;
  if (uploaded !== undefined) return [{ fileId: uploaded, steps: ['file_id'] }];
  const { source } = block;
  const fileId = isJsonObject(source) && source.type === 'file' ? filled(source.file_id) : undefined;
  if (fileId === undefined) return [];
  const fill = (file: LoadedFile, param: string): JsonObject => ({ ...block, source: messagesSource(block.type === 'image', file, param) });
  return [{ fileId, steps: ['source', 'file_id'], fill }];
}

/** Chat completions accept PDF as files. Texts become text parts, and images become image parts. */
function readChatPlaces(part: JsonObject): readonly FilePlace[] {
  const { file: named } = part;
  const fileId = part.type === 'file' && isJsonObject(named) ? filled(named.file_id) : undefined;
  if (!isJsonObject(named) || fileId === undefined) return [];
  const { file: _named, ...rest } = part;
  const { file_id: _id, ...others } = named;
  const fill = ({ filename, mediaType, text, base64 }: LoadedFile): JsonObject => {
    if (text !== undefined) return { ...rest, type: 'text', text: `${filename}\n${text}` };
    if (mediaType.startsWith('image/')) return { ...rest, type: 'image_url', image_url: { url: dataUrl(mediaType, base64) } };
    return { ...rest, file: { ...others, filename: filled(others.filename) ?? filename, file_data: dataUrl(mediaType, base64) } };
  };
  return [{ fileId, steps: ['file', 'file_id'], fill }];
}

/** By dialect; undefined if the dialect names files only by address. */
export const fileDialects: Readonly<Record<DialectId, FileDialect | undefined>> = {
  'openai-responses': { roots: ['input', 'prompt', 'tools'], opaque: new Set(['parameters']), readPlaces: readResponsesPlaces },
  'anthropic-messages': { roots: ['messages', 'system'], opaque: new Set(['input']), readPlaces: readMessagesPlaces },
  'openai-chat': { roots: ['messages'], opaque: new Set(), readPlaces: readChatPlaces },
  'gemini-generate-content': undefined,
};
