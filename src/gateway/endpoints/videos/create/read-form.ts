import type { IncomingMessage } from 'node:http';

import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';

import { GatewayError } from '../../../../inference/gateway-error.ts';
import { followDeclaredTypes } from '../../../../platform/http/declared-types.ts';
import type { Admission } from '../../../admission/overload/fair-gate.ts';
import { ignoreFileErrors } from '../../../../platform/http/ignore-file-errors.ts';

/** A complete file of a form. It becomes a part of the upstream request. */
type FormFile = { readonly name: string; readonly mediaType: string; readonly bytes: Buffer };

/** A received form, its texts in order. */
export type FormBody = {
  readonly fields: readonly { readonly name: string; readonly value: string }[];
  readonly files: readonly FormFile[];
};

const filesMax = 8;
const fieldsMax = 64;
const fieldBytesMax = 1024 * 1024;

export function isForm(contentType: string | undefined): boolean {
  return contentType !== undefined && /^multipart\/form-data\b/i.test(contentType);
}

/** Counts received bytes, within the limits of one request and of all requests. */
class HeldBytes {
  #bytes = 0;
  readonly #admission: Pick<Admission, 'holdBytes'>;
  readonly #bytesMax: number;

  constructor(admission: Pick<Admission, 'holdBytes'>, bytesMax: number) {
    this.#admission = admission;
    this.#bytesMax = bytesMax;
  }

  /** @throws GatewayError `request_too_large` or `overloaded` */
  add(bytes: number): void {
    this.#bytes += bytes;
    if (this.#bytes > this.#bytesMax)
      throw new GatewayError('request_too_large', `request body is too large: at most ${this.#bytesMax} bytes are accepted`);
    if (!this.#admission.holdBytes(this.#bytes))
      throw new GatewayError(
        'overloaded',
        'The gateway is overloaded: it holds as many request bodies as it can. Please try again in 1s.',
        {
          retryAfterSeconds: 1,
        },
      );
  }
}

/**
 * Reads a multipart form with its files.
 * @param bytesMax for the whole form
 * @throws GatewayError
 */
export async function readForm(
  request: IncomingMessage,
  {
    admission,
    bytesMax,
    signal,
  }: { readonly admission: Pick<Admission, 'holdBytes'>; readonly bytesMax: number; readonly signal: AbortSignal },
): Promise<FormBody> {
  const held = new HeldBytes(admission, bytesMax);
  const fields: { name: string; value: string }[] = [];
  const files: Promise<FormFile>[] = [];
  const { promise, resolve, reject } = Promise.withResolvers<undefined>();
  const parser = createParser(request.headers, bytesMax);
  ignoreFileErrors(parser);
  const declaredOf = followDeclaredTypes(parser);
  parser.on('file', (name, stream, _filename, _encoding, declaredType) => {
    const reading = readFile({ name, mediaType: declaredOf(declaredType) ?? '' }, stream, held);
    reading.catch(reject);
    files.push(reading);
  });
  parser.on('field', (name, value, isNameCut, isValueCut) => {
    if (isNameCut || isValueCut) reject(tooLong(name));
    try {
      held.add(Buffer.byteLength(value));
    } catch (error) {
      reject(error);
    }
    fields.push({ name, value });
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => reject(new GatewayError('invalid_value', 'the form has too many parts')));
  parser.on('error', (cause) => reject(new GatewayError('body_incomplete', 'the body is not valid multipart/form-data', { cause })));
  parser.on('finish', () => resolve(undefined));
  await pipe(request, parser, { promise, reject, signal });
  return { fields, files: await Promise.all(files) };
}

function tooLong(name: string): GatewayError {
  return new GatewayError('request_too_large', `${name.slice(0, 80)} is too long`, { param: name.slice(0, 80) });
}

/** Waits for the end of the form, and detaches from the request in every case. */
async function pipe(
  request: IncomingMessage,
  parser: InstanceType<typeof Busboy>,
  {
    promise,
    reject,
    signal,
  }: { readonly promise: Promise<unknown>; readonly reject: (error: unknown) => void; readonly signal: AbortSignal },
): Promise<void> {
  const onCut = (): void => reject(new GatewayError('body_incomplete', 'the body ended before it was complete'));
  request.on('aborted', onCut);
  request.on('error', onCut);
  signal.addEventListener('abort', onCut, { once: true });
  request.pipe(parser);
  try {
    await promise;
  } catch (error) {
    request.unpipe(parser);
    // The rest of the body is discarded, so that the client can read the answer.
    request.resume();
    parser.destroy();
    throw error;
  } finally {
    request.off('aborted', onCut);
    request.off('error', onCut);
    signal.removeEventListener('abort', onCut);
  }
}

function createParser(headers: IncomingMessage['headers'], bytesMax: number): InstanceType<typeof Busboy> {
  const type = headers['content-type'] ?? '';
  try {
    const limits = {
      fileSize: bytesMax + 1,
      files: filesMax,
      fields: fieldsMax,
      parts: filesMax + fieldsMax,
      fieldSize: fieldBytesMax,
      fieldNameSize: 100,
      headerPairs: 64,
      headerSize: 16_384,
    };
    const known: BusboyHeaders = { ...headers, 'content-type': type };
    return new Busboy({ headers: known, limits });
  } catch (cause) {
    throw new GatewayError('unsupported_media_type', 'content-type must be multipart/form-data with a boundary', { cause });
  }
}

async function readFile(
  { name, mediaType }: { readonly name: string; readonly mediaType: string },
  stream: BusboyFileStream,
  held: HeldBytes,
): Promise<FormFile> {
  const pieces: Buffer[] = [];
  for await (const piece of stream as AsyncIterable<Buffer>) {
    held.add(piece.length);
    pieces.push(piece);
  }
  return { name, mediaType: mediaType.toLowerCase(), bytes: Buffer.concat(pieces) };
}
