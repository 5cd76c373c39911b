import type { DialectId } from '../../../dialects/dialect-id.ts';
import { formatPath } from '../../../dialects/format-path.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import type { Clock } from '../../../platform/clock.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../../platform/json/json-value.ts';
import { WorkSlices } from '../../../platform/yield-queue.ts';
import { ExtractionError } from '../../../tools/file-search/extraction/extraction-error.ts';
import { decodeText } from '../../../tools/file-search/extraction/read-text.ts';
import { FileProblem } from '../../../tools/file-search/file-library.ts';
import type { StoredFile } from '../../../tools/file-search/file-objects.ts';
import type { FileService } from '../../../tools/file-search/file-service.ts';
import { type FileDialect, fileDialects, type FilePlace, type LoadedFile } from './place-file.ts';

/** The member that names a file, and the beginning of an escaped letter in such a name. */
const fileNames = ['"file_id', '\\u00'] as const;
/**
 * The beginning of that member. For texts below eight characters, native search jumps from one first character to the
 * next. In the base64 of an image this takes a tenth of the time, because the image contains no quotes.
 */
const fileNameStart = '"file_i';
const longestName = Math.max(...fileNames.map((name) => name.length));

/** The bytes that are searched in one step: a few milliseconds in the worst case. */
const stepBytes = 1024 * 1024;

/**
 * Whether a body can name files at all. Almost none does, so its bytes are searched first; a large body in steps that
 * yield to the event loop. An escaped letter may hide a name from the search, so a body with one is read in full.
 */
export function mayNameFiles(bytes: Buffer): boolean | Promise<boolean> {
  return bytes.length > stepBytes ? mayNameFilesInTurns(bytes) : hasFileName(bytes);
}

function hasFileName(bytes: Buffer): boolean {
  const [name, escape] = fileNames;
  return (bytes.includes(fileNameStart) && bytes.includes(name)) || bytes.includes(escape);
}

async function mayNameFilesInTurns(bytes: Buffer): Promise<boolean> {
  const slices = new WorkSlices();
  for (let at = 0; at < bytes.length; at += stepBytes) {
    // A name may begin in one step and end in the next.
    if (hasFileName(bytes.subarray(at, at + stepBytes + longestName))) return true;
    if (slices.isOver) await slices.yield();
  }
  return false;
}

/**
 * Replaces the ids of the user's own files by the files. Returns the body itself if it names none.
 * @param param the field that errors name, if it is not in this body
 * @throws GatewayError `object_not_found` for an id that is not one of the user's files, `invalid_value` for a file of
 * the
 *   wrong kind, `request_too_large`, `overloaded`, `responses_unavailable`
 */
export type InlineFiles = (body: JsonObject, param?: string) => Promise<JsonObject>;

type InlineOptions = {
  /** Absent: no files are stored here, and no id is known. */
  readonly files: Pick<FileService, 'store' | 'library'> | undefined;
  readonly clock: Clock;
  readonly userName: string;
  readonly dialect: DialectId;
  /** The most bytes that the files of one request may have together, as they are in the request. */
  readonly bytesMax: number;
  /** Whether the process has room for this many bytes of the request. */
  readonly mayHold: (bytes: number) => boolean;
};

/** The most places in which one request may name files: as many images as the vendors accept. */
const placesMax = 500;

const textTypes = /^text\/|^application\/(?:json|jsonl|xml)$/;

/** Creates the function that inlines the files of one call. It reads each file once. */
export function createInlineFiles(options: InlineOptions): InlineFiles {
  const loaded = new Map<string, Promise<LoadedFile>>();
  const load = (file: StoredFile, param: string): Promise<LoadedFile> => {
    const found = loaded.get(file.id) ?? loadFile(options, file, param);
    loaded.set(file.id, found);
    return found;
  };
  return async (body, param) => {
    const dialect = fileDialects[options.dialect];
    const named = dialect === undefined ? [] : findPlaces(body, dialect, param);
    if (named.length === 0) return body;
    if (named.length > placesMax) throw tooLarge(`names files in more than ${placesMax} places`, named[0]?.param);
    const stored = await findFiles(options, named);
    reserve(options, named, stored);
    const filled = new Map<JsonObject, JsonObject>();
    for (const place of named) {
      const { fill, object, fileId } = place;
      const file = stored.get(fileId);
      if (fill === undefined || file === undefined) continue;
      filled.set(object, fill(await load(file, place.param), place.param));
    }
    return replaceMembers(body, filled);
  };
}

type NamedFile = FilePlace & { readonly object: JsonObject; readonly param: string };

function findPlaces(body: JsonObject, { roots, opaque, readPlaces }: FileDialect, param: string | undefined): readonly NamedFile[] {
  const named: NamedFile[] = [];
  // Formatted only if something is found: a large body has a million values.
  const path: (string | number)[] = [];
  const look = (value: JsonValue | undefined, key: string): void => {
    if (typeof value !== 'object' || value === null) return;
    if (!isJsonObject(value)) {
      for (let index = 0; index < value.length; index++) {
        path.push(index);
        look(value[index], key);
        path.pop();
      }
      return;
    }
    for (const place of readPlaces(value, key))
      named.push({ ...place, object: value, param: param ?? formatPath([...path, ...place.steps]) });
    for (const member of Object.keys(value)) {
      if (opaque.has(member)) continue;
      path.push(member);
      look(value[member], member);
      path.pop();
    }
  };
  for (const root of roots) {
    path.push(root);
    look(body[root], root);
    path.pop();
  }
  return named;
}

/** The same error for an unknown id and for another user's id, so that it reveals nothing. */
function noSuchFile(fileId: string, param: string): GatewayError {
  return new GatewayError('object_not_found', `No such File object: ${fileId.slice(0, 100)}`, { param });
}

function tooLarge(reason: string, param: string | undefined): GatewayError {
  return new GatewayError('request_too_large', `this request ${reason}`, param === undefined ? {} : { param });
}

async function findFiles({ files, clock, userName }: InlineOptions, named: readonly NamedFile[]): Promise<ReadonlyMap<string, StoredFile>> {
  const stored = new Map<string, StoredFile>();
  for (const { fileId, param } of named) {
    if (stored.has(fileId)) continue;
    const file = await answered(files?.store.findFile({ userName, fileId, nowMs: clock.nowMs() }));
    if (file === undefined) throw noSuchFile(fileId, param);
    stored.set(fileId, file);
  }
  const unfit = named.find(({ fill }) => fill === undefined);
  if (unfit === undefined) return stored;
  const { param } = unfit;
  throw new GatewayError(
    'invalid_value',
    `${param}: files of this gateway cannot be put into a container; add the file to the input of the model instead`,
    {
      param,
    },
  );
}

/** A failure of the store is not the same as a missing file. */
async function answered<Answer>(answer: Promise<Answer> | undefined): Promise<Answer | undefined> {
  try {
    return await answer;
  } catch (cause) {
    if (cause instanceof FileProblem) throw cause;
    throw new GatewayError('responses_unavailable', 'files cannot be read at the moment; try again', { retryAfterSeconds: 1, cause });
  }
}

/** Sizes are known before anything is read, so a request that is too large costs nothing. */
function reserve({ bytesMax, mayHold }: InlineOptions, named: readonly NamedFile[], stored: ReadonlyMap<string, StoredFile>): void {
  let total = 0;
  for (const { fileId, param } of named) {
    total += Math.ceil((stored.get(fileId)?.bytes ?? 0) / 3) * 4;
    if (total > bytesMax) throw tooLarge(`is too large with its files: they may have ${bytesMax} bytes together, as base64`, param);
  }
  if (mayHold(total)) return;
  const message = 'The gateway is overloaded: it has no room for the files of this request. Please try again in 1s.';
  throw new GatewayError('overloaded', message, { retryAfterSeconds: 1 });
}

async function loadFile({ files }: InlineOptions, file: StoredFile, param: string): Promise<LoadedFile> {
  const { filename, mediaType } = file;
  try {
    const bytes = (await answered(files?.library.readWhole(file))) ?? new Uint8Array();
    const text = textTypes.test(mediaType) ? decodeText(bytes) : undefined;
    const base64 = (text === undefined ? Buffer.from(bytes.buffer) : Buffer.from(text)).toString('base64');
    return { filename, mediaType, text, base64 };
  } catch (error) {
    if (error instanceof FileProblem && error.problem === 'gone') throw noSuchFile(file.id, param);
    if (!(error instanceof ExtractionError)) throw error;
    throw new GatewayError('invalid_value', `${param}: ${error.message}`, { param, cause: error });
  }
}

/** The value with some of its objects replaced. A value without any of them stays the same object. */
function replace(value: JsonValue | undefined, filled: ReadonlyMap<JsonObject, JsonObject>): JsonValue | undefined {
  if (typeof value !== 'object' || value === null) return value;
  if (isJsonObject(value)) return filled.get(value) ?? replaceMembers(value, filled);
  const items = value.map((item) => replace(item, filled) ?? null);
  return items.every((item, index) => item === value[index]) ? value : items;
}

function replaceMembers(object: JsonObject, filled: ReadonlyMap<JsonObject, JsonObject>): JsonObject {
  const members = Object.entries(object).map(([name, member]) => [name, replace(member, filled)] as const);
  return members.every(([name, member]) => member === object[name]) ? object : Object.fromEntries(members);
}
