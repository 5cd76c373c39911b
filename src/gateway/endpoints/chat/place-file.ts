import type { DialectId } from '../../../dialects/dialect-id.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';

/** A user's file as it goes into a request. */
export type LoadedFile = {
  readonly filename: string;
  readonly mediaType: string;
  /** The content of a text file; undefined for every other kind. */
  readonly text: string | undefined;
  readonly base64: string;
};

/** A place of a request that names a file. */
export type FilePlace = {
  readonly fileId: string;
  /** Steps from the named object to its id. */
  readonly steps: readonly (string | number)[];
  /** The object with the file in it. Absent where an id can stand and a content cannot. @throws GatewayError `invalid_value` */
  readonly fill?: (file: LoadedFile, param: string) => JsonObject;
};

/** Reads what an object names; `key` is the member that it is, or that its list is. */
type ReadPlaces = (object: JsonObject, key: string) => readonly FilePlace[];

/** What a dialect's requests name files in. */
export type FileDialect = {
  /** Members of the body in which files are named. */
  readonly roots: readonly string[];
  /** Members that hold what a model or a schema says: an id in them names nothing. */
  readonly opaque: ReadonlySet<string>;
  readonly readPlaces: ReadPlaces;
};

const filled = (value: JsonValue | undefined): string | undefined => (typeof value === 'string' && value !== '' ? value : undefined);

function refuseKind({ filename, mediaType }: LoadedFile, wanted: string, param: string): never {
  throw new GatewayError('invalid_value', `${param}: the file ${JSON.stringify(filename)} is ${mediaType}; ${wanted} is wanted here`, {
    param,
  });
}

const dataUrl = (mediaType: string, base64: string): string => `data:${mediaType};base64,${base64}`;

function imageUrl(file: LoadedFile, param: string): string {
  return file.mediaType.startsWith('image/') ? dataUrl(file.mediaType, file.base64) : refuseKind(file, 'an image', param);
}

/** Pictures of Responses: of messages, of results of tools, and masks. */
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
  // Text is named as plain text whatever its kind: that is what every road of the gateway, and the vendor, can read.
  const fill = (file: LoadedFile): JsonObject => ({
    ...rest,
    filename: filled(rest.filename) ?? file.filename,
    file_data: dataUrl(file.text === undefined ? file.mediaType : 'text/plain', file.base64),
  });
  return [{ ...place, fill }];
}

/** The source of a document or an image. The vendor takes PDF and text as documents. */
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

/** Chat completions take PDF as files; texts are said, and pictures shown. */
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

/** By dialect; undefined where files are named by address. */
export const fileDialects: Readonly<Record<DialectId, FileDialect | undefined>> = {
  'openai-responses': { roots: ['input', 'prompt', 'tools'], opaque: new Set(['parameters']), readPlaces: readResponsesPlaces },
  'anthropic-messages': { roots: ['messages', 'system'], opaque: new Set(['input']), readPlaces: readMessagesPlaces },
  'openai-chat': { roots: ['messages'], opaque: new Set(), readPlaces: readChatPlaces },
  'gemini-generate-content': undefined,
};
