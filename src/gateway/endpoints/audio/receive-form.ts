import type { IncomingMessage } from 'node:http';

import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';

import { invalidField, missingField } from '../../../dialects/openai-audio/audio-errors.ts';
import { type AudioContainer, checkUploadedSound, sniffedBytes } from '../../../dialects/openai-audio/sniff-audio.ts';
import type { FormField } from '../../../dialects/openai-audio/transcription-form.ts';
import { GatewayError } from '../../../inference/gateway-error.ts';
import { followDeclaredTypes } from '../../../platform/http/declared-types.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { heldBytesMax, type SpooledUpload, type UploadSpool } from './upload-spool.ts';
import { abortReason } from './upstream-reply.ts';

/** The file of a form: where it stands among the fields, what it is called, and what it is. */
export type FormFile = {
  /** How many fields came before it. */
  readonly place: number;
  readonly filename: string;
  readonly declaredType: string;
  readonly container: AudioContainer;
  readonly upload: SpooledUpload;
};

/** A form as it came, its fields in their order. */
export type ReceivedForm = { readonly fields: readonly FormField[]; readonly file: FormFile };

/** Samples of speakers' voices come as fields: ten seconds of sound in base64. */
const fieldBytesMax = 4 * 1024 * 1024;
const fieldsBytesMax = 16 * 1024 * 1024;
/** What stands between the parts of a form that is not refused. */
const headBytesMax = 4 * 1024 * 1024;
/** What an upload holds of memory besides its fields: what is not on the disk yet, and what the connection has read ahead. */
const heldBytes = heldBytesMax + 128 * 1024;
const filenameCharactersMax = 255;

type OpenForm = {
  readonly fields: FormField[];
  fieldBytes: number;
  file: { readonly place: number; readonly filename: string | undefined; readonly declaredType: string } | undefined;
};

type Receiving = {
  readonly request: IncomingMessage;
  readonly signal: AbortSignal;
  readonly admission: Pick<Admission, 'holdBytes'>;
  readonly spool: UploadSpool;
  readonly uploadBytesMax: number;
};

/**
 * Takes a form with a file in as it comes, whatever the order of its parts. Where it fails, or its client leaves, nothing of it stays.
 * @throws GatewayError
 */
export async function receiveForm(receiving: Receiving): Promise<ReceivedForm> {
  const { request, admission, spool, uploadBytesMax } = receiving;
  const type = request.headers['content-type'];
  if (type === undefined || !/^multipart\/form-data\b/i.test(type)) throw wrongContentType();
  const declared = Number(request.headers['content-length'] ?? '0');
  if (declared > uploadBytesMax + fieldsBytesMax + headBytesMax) throw tooLarge(declared, uploadBytesMax);
  if (!admission.holdBytes(heldBytes)) throw overloaded();
  const upload = spool.begin();
  try {
    const form = await readParts(receiving, upload, { ...request.headers, 'content-type': type });
    return { fields: form.fields, file: await describeFile(form, upload) };
  } catch (error) {
    await upload.discard();
    throw error;
  }
}

function wrongContentType(cause?: unknown): GatewayError {
  return new GatewayError('unsupported_media_type', 'content-type must be multipart/form-data with a boundary', { cause });
}

function overloaded(): GatewayError {
  return new GatewayError('overloaded', 'The gateway holds as many uploads as it can. Please try again in 1s.', { retryAfterSeconds: 1 });
}

function readParts(receiving: Receiving, upload: SpooledUpload, headers: BusboyHeaders): Promise<OpenForm> {
  const { request, signal, admission, uploadBytesMax } = receiving;
  const form: OpenForm = { fields: [], fieldBytes: 0, file: undefined };
  const { promise, resolve, reject } = Promise.withResolvers<OpenForm>();
  let writing: Promise<void> = Promise.resolve();
  // Throws for a boundary that is none.
  const parser = createParser(headers, uploadBytesMax);
  const declaredOf = followDeclaredTypes(parser);
  parser.on('file', (name, stream, filename, _encoding, toldType) => {
    if (name !== 'file' || form.file !== undefined) {
      reject(invalidField(name.slice(0, 80), "Expected exactly one file, in the field 'file'."));
      stream.resume();
      return;
    }
    form.file = { place: form.fields.length, filename, declaredType: declaredOf(toldType) ?? '' };
    writing = writeUpload(stream, upload, uploadBytesMax);
    writing.catch(reject);
  });
  parser.on('field', (name, value, nameTruncated, valueTruncated) => {
    form.fieldBytes += name.length + value.length;
    if (nameTruncated || valueTruncated || form.fieldBytes > fieldsBytesMax)
      return reject(invalidField(name.slice(0, 80), `A field of the form is too long: at most ${fieldBytesMax} bytes are accepted.`));
    form.fields.push({ name, value });
    if (form.fieldBytes > heldBytesMax && !admission.holdBytes(heldBytes + form.fieldBytes)) reject(overloaded());
  });
  parser.on('error', (cause) => reject(new GatewayError('body_incomplete', 'the body is no valid multipart/form-data', { cause })));
  parser.on('finish', () => void writing.then(() => resolve(form), reject));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => reject(invalidField('file', 'The form has too many parts, or more than one file.')));
  const onCut = (): void => reject(new GatewayError('body_incomplete', 'the upload ended before it was whole'));
  const onAbort = (): void => reject(abortReason(signal));
  request.on('aborted', onCut);
  request.on('error', onCut);
  signal.addEventListener('abort', onAbort, { once: true });
  // A client that left before somebody listened for it: nothing tells again.
  if (signal.aborted) onAbort();
  else request.pipe(parser);
  return promise.catch((error: unknown) => {
    request.unpipe(parser);
    parser.destroy();
    throw error;
  });
}

function createParser(headers: BusboyHeaders, uploadBytesMax: number): InstanceType<typeof Busboy> {
  const limits = {
    fileSize: uploadBytesMax + 1,
    files: 1,
    fields: 128,
    parts: 130,
    fieldSize: fieldBytesMax,
    fieldNameSize: 200,
    headerPairs: 64,
    headerSize: 16_384,
  };
  try {
    // A file whose part has no name would be read as a text and come to harm.
    return new Busboy({ headers, limits, isPartAFile: (name, _type, filename) => name === 'file' || filename !== undefined });
  } catch (cause) {
    throw wrongContentType(cause);
  }
}

async function writeUpload(stream: BusboyFileStream, upload: SpooledUpload, bytesMax: number): Promise<void> {
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(bytes, bytesMax);
    await upload.write(chunk);
  }
}

/** In the vendor's words. @param bytes read so far, or announced */
function tooLarge(bytes: number, bytesMax: number): GatewayError {
  return new GatewayError('request_too_large', `Maximum content size limit (${bytesMax}) exceeded (${bytes} bytes read)`, {
    param: 'file',
  });
}

async function describeFile({ file }: OpenForm, upload: SpooledUpload): Promise<FormFile> {
  if (file === undefined) throw missingField('file');
  const { place, declaredType } = file;
  const filename = cleanName(file.filename ?? '');
  if (filename === '')
    throw new GatewayError(
      'invalid_media',
      "The part 'file' has no filename: an audio file with a name such as 'speech.mp3' is expected.",
      {
        param: 'file',
      },
    );
  const head = await upload.readAt(0, sniffedBytes);
  const container = checkUploadedSound({ filename, declaredType, head, bytes: upload.bytes });
  return { place, filename, declaredType, container, upload };
}

/** A name without places of directories, and without characters that are not seen. */
function cleanName(filename: string): string {
  const name = (filename.toWellFormed().split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{C}/gu, '').trim();
  return Array.from(name).slice(-filenameCharactersMax).join('');
}
