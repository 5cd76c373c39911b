import type { IncomingMessage } from 'node:http';
import type { Readable } from 'node:stream';

import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { followDeclaredTypes } from '../../../platform/http/declared-types.ts';
import type { Admission } from '../../admission/overload/fair-gate.ts';
import { type SpooledUpload, type UploadSpool, heldBytesMax } from './upload-spool.ts';
import type { ApiKey } from '../../../accounts/api-key.ts';
import { chatDialects } from '../../../dialects/registry.ts';
import { reserveCall } from '../../admission/limits/reserve-call.ts';
import type { AdmissionServices } from '../../admission/services.ts';
import type { AttemptServices } from '../../attempts/services.ts';
import { ignoreFileErrors } from '../../../platform/http/ignore-file-errors.ts';

/** A field of a form, as received. */
export type FormField = { readonly name: string; readonly value: string };

/** A file of a form, which waits in the spool. */
export type ReceivedUpload = {
  readonly name: string;
  /** The number of fields before it. */
  readonly place: number;
  readonly filename: string;
  /** Empty if none was declared. */
  readonly declaredType: string;
  readonly upload: SpooledUpload;
};

/** A form as received, with its fields and files in order. */
export type ReceivedUploads = { readonly fields: readonly FormField[]; readonly files: readonly ReceivedUpload[] };

/** The limits and the parts of an expected form. */
export type ExpectedForm = {
  readonly fileBytesMax: number;
  readonly filesMax: number;
  /** The limits of one field, and of all fields. */
  readonly fieldBytesMax: number;
  readonly fieldsBytesMax: number;
  /** Whether a part is a file. Otherwise it is read as text. */
  readonly isFile: (name: string, filename: string | undefined) => boolean;
  /** Why a part is refused at its beginning; undefined if it is accepted. */
  readonly refuseFile: (name: string, filesBefore: number) => GatewayError | undefined;
  readonly refuseField: (name: string) => GatewayError | undefined;
  readonly tooManyParts: () => GatewayError;
};

type Receiving = {
  readonly request: IncomingMessage;
  /** The form itself if the request has it in an encoding. Absent: the request. */
  readonly source?: Readable;
  readonly signal?: AbortSignal;
  readonly admission: Pick<Admission, 'holdBytes'>;
  readonly spool: UploadSpool;
  readonly expected: ExpectedForm;
};

/** The most bytes between the parts of a form. */
const headBytesMax = 4 * 1024 * 1024;
/** The bytes that the connection reads ahead. */
const readAheadBytes = 128 * 1024;
const filenameCharactersMax = 255;

/**
 * Receives a form with files as it arrives, in any order of its parts. The files go into the spool. If it fails or its
 * client disconnects, nothing of it remains.
 * @throws GatewayError
 */
export async function receiveUploads(receiving: Receiving): Promise<ReceivedUploads> {
  const { request, admission, expected } = receiving;
  const type = request.headers['content-type'];
  if (type === undefined || !/^multipart\/form-data\b/i.test(type)) throw wrongContentType();
  const declared = Number(request.headers['content-length'] ?? '0');
  const { fileBytesMax, filesMax, fieldsBytesMax } = expected;
  if (declared > fileBytesMax * filesMax + fieldsBytesMax + headBytesMax) throw tooLarge(declared, fileBytesMax, 'file');
  if (!admission.holdBytes(readAheadBytes + heldBytesMax)) throw overloaded();
  const form = new OpenForm(receiving);
  try {
    return await form.read({ ...request.headers, 'content-type': type });
  } catch (error) {
    await form.discard();
    throw error;
  }
}

function wrongContentType(cause?: unknown): GatewayError {
  return new GatewayError('unsupported_media_type', 'content-type must be multipart/form-data with a boundary', { cause });
}

function overloaded(): GatewayError {
  return new GatewayError('overloaded', 'The gateway is overloaded: it has no room for more uploads. Please try again in 1s.', {
    retryAfterSeconds: 1,
  });
}

/** Uses the vendor's message. @param bytes bytes read so far, or announced */
function tooLarge(bytes: number, bytesMax: number, param: string): GatewayError {
  return new GatewayError('request_too_large', `Maximum content size limit (${bytesMax}) exceeded (${bytes} bytes read)`, { param });
}

class OpenForm {
  readonly #receiving: Receiving;
  readonly #fields: FormField[] = [];
  readonly #files: ReceivedUpload[] = [];
  readonly #done = Promise.withResolvers<ReceivedUploads>();
  #fieldBytes = 0;
  #writing: Promise<void> = Promise.resolve();

  constructor(receiving: Receiving) {
    this.#receiving = receiving;
  }

  async discard(): Promise<void> {
    await Promise.allSettled(this.#files.map(({ upload }) => upload.discard()));
  }

  read(headers: BusboyHeaders): Promise<ReceivedUploads> {
    const { request, source = request, signal, expected } = this.#receiving;
    const { promise, resolve, reject } = this.#done;
    // Throws for an invalid boundary.
    const parser = createParser(headers, expected);
    ignoreFileErrors(parser);
    const declaredOf = followDeclaredTypes(parser);
    parser.on('file', (name, stream, filename, _encoding, reportedType) =>
      this.#takeFile({ name, filename: filename ?? '', declaredType: declaredOf(reportedType) ?? '' }, stream),
    );
    parser.on('field', (name, value, nameTruncated, valueTruncated) => this.#takeField(name, value, nameTruncated || valueTruncated));
    parser.on('error', (cause) => reject(new GatewayError('body_incomplete', 'the body is not valid multipart/form-data', { cause })));
    parser.on('finish', () => void this.#writing.then(() => resolve({ fields: this.#fields, files: this.#files }), reject));
    for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) parser.on(limit, () => reject(expected.tooManyParts()));
    const onCut = (): void => reject(new GatewayError('body_incomplete', 'the upload ended before it was complete'));
    const onAbort = (): void => reject(abortReason(signal));
    request.on('aborted', onCut);
    request.on('error', onCut);
    signal?.addEventListener('abort', onAbort, { once: true });
    // If the client has disconnected before, no further event comes.
    if (signal?.aborted === true) onAbort();
    else source.pipe(parser);
    return promise.catch((error: unknown) => {
      source.unpipe(parser);
      parser.destroy();
      throw error;
    });
  }

  #takeFile(file: Pick<ReceivedUpload, 'name' | 'filename' | 'declaredType'>, stream: BusboyFileStream): void {
    const { spool, expected } = this.#receiving;
    const refusal = expected.refuseFile(file.name.slice(0, 80), this.#files.length);
    if (refusal !== undefined) {
      this.#done.reject(refusal);
      stream.resume();
      return;
    }
    const upload = spool.begin();
    this.#files.push({ ...file, filename: cleanName(file.filename), place: this.#fields.length, upload });
    if (this.#files.length > 1) this.#hold();
    const writing = writeUpload(stream, upload, expected.fileBytesMax, file.name);
    writing.catch(this.#done.reject);
    this.#writing = this.#writing.then(() => writing);
    this.#writing.catch(() => {});
  }

  #takeField(name: string, value: string, isTruncated: boolean): void {
    const { fieldBytesMax, fieldsBytesMax, refuseField } = this.#receiving.expected;
    this.#fieldBytes += name.length + value.length;
    const param = name.slice(0, 80);
    const refusal = refuseField(name);
    if (refusal !== undefined) return this.#done.reject(refusal);
    if (isTruncated || this.#fieldBytes > fieldsBytesMax) {
      const message = `A field of the form is too long: at most ${fieldBytesMax} bytes are accepted.`;
      return this.#done.reject(new GatewayError('invalid_value', message, { param, details: { openai_code: 'invalid_value' } }));
    }
    this.#fields.push({ name, value });
    if (this.#fieldBytes > heldBytesMax) this.#hold();
  }

  /** Counts the bytes of the form in memory. */
  #hold(): void {
    const bytes = readAheadBytes + Math.max(1, this.#files.length) * heldBytesMax + this.#fieldBytes;
    if (!this.#receiving.admission.holdBytes(bytes)) this.#done.reject(overloaded());
  }
}

function abortReason(signal: AbortSignal | undefined): GatewayError {
  const reason: unknown = signal?.reason;
  return reason instanceof GatewayError ? reason : new GatewayError('request_timeout', 'the client disconnected', { cause: reason });
}

function createParser(headers: BusboyHeaders, expected: ExpectedForm): InstanceType<typeof Busboy> {
  const { fileBytesMax, filesMax, fieldBytesMax, isFile } = expected;
  const limits = {
    fileSize: fileBytesMax + 1,
    files: filesMax,
    fields: 128,
    parts: 129 + filesMax,
    fieldSize: fieldBytesMax,
    fieldNameSize: 200,
    headerPairs: 64,
    headerSize: 16_384,
  };
  try {
    return new Busboy({ headers, limits, isPartAFile: (name, _type, filename) => isFile(name ?? '', filename) });
  } catch (cause) {
    throw wrongContentType(cause);
  }
}

async function writeUpload(stream: BusboyFileStream, upload: SpooledUpload, bytesMax: number, param: string): Promise<void> {
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax) throw tooLarge(bytes, bytesMax, param);
    await upload.write(chunk);
  }
}

/** A file name without directories and without invisible characters. */
function cleanName(filename: string): string {
  const name = (filename.toWellFormed().split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{C}/gu, '').trim();
  return Array.from(name).slice(-filenameCharactersMax).join('');
}

/**
 * Reserves the share of an upload in the limits of its caller, so that a client over its limit need not send many MiB
 * first. It is released when the form has arrived: only then are the model and the length of the text known, and the
 * call reserves its share of all limits at the same moment.
 * @throws GatewayError `rate_limited` (429)
 */
export async function takeUploadSlot(
  gateway: Pick<AdmissionServices & AttemptServices, 'limiter' | 'clock' | 'settings'>,
  caller: ApiKey,
): Promise<{ readonly release: () => void }> {
  const { limiter, clock } = gateway;
  const { perKey } = gateway.settings();
  const facts = { requestedModel: '', stream: false, inputCharacters: 0, needs: [], outputTokensMax: 0 };
  const reserved = await reserveCall({ limiter, clock, voice: chatDialects['openai-chat'].voice, caller, perKey, facts, model: undefined });
  return { release: () => reserved?.reservation.release() };
}
