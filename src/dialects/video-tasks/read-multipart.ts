import { GatewayError } from '../../inference/gateway-error.ts';
import { JsonProblemError, scanJson } from '../../platform/json/scan-json.ts';
import { fieldOf } from './field-names.ts';
import { rawMember, type TextMember, writeTextObject } from './json-text.ts';
import { wrongMedia, wrongValue } from './request-problem.ts';

/** A file of a form. */
export type MultipartFile = { readonly name: string; readonly filename?: string; readonly mediaType: string; readonly bytes: Buffer };

/** A parsed `multipart/form-data` body: texts in order, and files. */
export type MultipartForm = {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly MultipartFile[];
};

const signatures: readonly (readonly [mediaType: string, offset: number, bytes: string])[] = [
  ['image/png', 0, '\x89PNG'],
  ['image/jpeg', 0, '\xff\xd8\xff'],
  ['image/gif', 0, 'GIF8'],
  ['image/webp', 8, 'WEBP'],
  ['video/mp4', 4, 'ftyp'],
  ['video/webm', 0, '\x1aE\xdf\xa3'],
];

/** Finds the type of a file: the client's, or that of its first bytes if the client names none. */
function mediaTypeOf({ mediaType, bytes }: MultipartFile): string {
  const declared = mediaType.toLowerCase().split(';', 1).join('').trim();
  if (declared !== '' && declared !== 'application/octet-stream') return declared;
  const match = signatures.find(([, offset, signature]) => bytes.toString('latin1', offset, offset + signature.length) === signature);
  return match?.[0] ?? 'application/octet-stream';
}

function encodeFile(file: MultipartFile): string {
  if (file.bytes.length === 0) throw wrongMedia(file.name, 'must not be an empty file');
  return JSON.stringify(`data:${mediaTypeOf(file)};base64,${file.bytes.toString('base64')}`);
}

/** Checks an object or array in a text field. It stays as it was written. */
function encodeJson(name: string, value: string, rootType: 'object' | 'array'): string {
  try {
    const scan = scanJson(Buffer.from(value));
    if (scan.rootType === rootType) return value;
    throw wrongValue(name, `must be a JSON ${rootType}`, `a JSON ${scan.rootType}`);
  } catch (error) {
    if (!(error instanceof JsonProblemError)) throw error;
    throw new GatewayError('invalid_json', `${name} must be a JSON ${rootType}: ${error.message}.`, { param: name, cause: error });
  }
}

const isListField = (name: string): boolean => ['images', 'reference_images'].includes(fieldOf(name) ?? '');
const looksLikeList = (name: string, value: string): boolean => isListField(name) && value.trimStart().startsWith('[');

/** Writes a text field. Lengths that are numbers become JSON numbers. */
function encodeText(name: string, value: string): string {
  const field = fieldOf(name);
  if (field === 'metadata') return encodeJson(name, value, 'object');
  if (looksLikeList(name, value)) return encodeJson(name, value, 'array');
  return field === 'duration' && /^(?:0|[1-9]\d{0,3})$/.test(value) ? value : JSON.stringify(value);
}

const bracketed = /^([^[\]]+)\[([^[\]]*)\]$/;

/**
 * The values under one name: alone, as items (`images[]`, or `images` several times), or as members (`metadata[seed]`).
 */
type Entry = { readonly single: string[]; readonly items: string[]; readonly members: TextMember[] };

function encodeEntry(name: string, { single, items, members }: Entry): string {
  const kinds = [single, items, members].filter((kind) => kind.length > 0);
  if (kinds.length > 1) throw wrongValue(name, 'must be sent in only one way', 'several');
  if (items.length > 0) return `[${items.join(',')}]`;
  if (members.length > 0) {
    const keys = new Set(members.map(({ key }) => key));
    if (keys.size < members.length) throw duplicateOf(name);
    return writeTextObject(members);
  }
  if (single.length > 1) throw duplicateOf(name);
  return single.join('');
}

const duplicateOf = (name: string): GatewayError =>
  new GatewayError('duplicate_key', `The form contains ${name} more than once.`, { param: name });

/**
 * Writes a form as the equivalent JSON body, so that there is one reader for both. Files become data URLs. Brackets
 * become arrays and objects, as OpenAI's clients write them.
 * @throws GatewayError for duplicate names, and for metadata that is not a JSON object
 */
export function encodeMultipartAsJson({ fields, files }: MultipartForm): Buffer {
  const entries = new Map<string, Entry>();
  const add = (rawName: string, kind: 'text' | 'file', value: string): void => {
    const [, outer, inner] = bracketed.exec(rawName) ?? [];
    const name = outer ?? rawName;
    const entry: Entry = entries.get(name) ?? { single: [], items: [], members: [] };
    entries.set(name, entry);
    const json = kind === 'file' ? value : JSON.stringify(value);
    const isItem = isListField(name) && (kind === 'file' || !looksLikeList(name, value));
    if (inner === '' || (inner === undefined && isItem)) entry.items.push(json);
    else if (inner !== undefined) entry.members.push(rawMember(inner, json));
    else entry.single.push(kind === 'file' ? value : encodeText(name, value));
  };
  for (const { name, value } of fields) add(name, 'text', value);
  for (const file of files) add(file.name, 'file', encodeFile(file));
  return Buffer.from(writeTextObject([...entries].map(([name, entry]) => rawMember(name, encodeEntry(name, entry)))));
}
