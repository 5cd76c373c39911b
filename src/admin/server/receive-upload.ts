import { createHash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';

import { Busboy, type BusboyFileStream } from '@fastify/busboy';

import { AdminProblem, unavailable } from '../problem.ts';
import { type Spool, type SpooledFile, type Upload, uploadBytesMax } from '../upload.ts';
import { ignoreFileErrors } from '../../platform/http/ignore-file-errors.ts';

/** A form that has arrived. */
export type ReceivedForm = {
  readonly fields: Readonly<Record<string, string>>;
  readonly upload: Upload;
  readonly discard: () => Promise<void>;
};

type Arrived = { readonly name: string; readonly sha256: string };

const limits = {
  fileSize: uploadBytesMax + 1,
  files: 1,
  fields: 16,
  parts: 18,
  fieldSize: 4096,
  fieldNameSize: 100,
  headerPairs: 64,
  headerSize: 16_384,
};
const nameCharactersMax = 200;

/**
 * Receives a form with one file, in the field `file`, onto the disk. A form that fails, or whose client leaves, leaves
 * nothing.
 * @throws AdminProblem
 */
export async function receiveUpload(request: IncomingMessage, spool: Spool): Promise<ReceivedForm> {
  const file = spool.begin();
  try {
    const fields = new Map<string, string>();
    const { name, sha256 } = await readForm(request, file, fields);
    const upload = { name, sha256, bytes: file.bytes, readAt: (start: number, end: number) => file.readAt(start, end) };
    return { fields: Object.fromEntries(fields), upload, discard: () => file.discard() };
  } catch (error) {
    await file.discard();
    throw error;
  }
}

function readForm(request: IncomingMessage, file: SpooledFile, fields: Map<string, string>): Promise<Arrived> {
  const { promise, resolve, reject } = Promise.withResolvers<Arrived>();
  let arriving: Promise<Arrived> | undefined;
  const parser = createParser(request);
  ignoreFileErrors(parser);
  const refuse = (detail: string): void => reject(new AdminProblem('invalid_request', detail));
  parser.on('file', (field, stream, name) => {
    if (field !== 'file' || arriving !== undefined) {
      refuse('The form must have exactly one file, in the field file.');
      stream.resume();
      return;
    }
    arriving = writeFile(stream, file).then((sha256) => ({ name: cleanName(name ?? ''), sha256 }));
    arriving.catch(reject);
  });
  parser.on('field', (name, value) => {
    if (fields.has(name)) refuse(`The form has the field ${name.slice(0, 40)} twice.`);
    fields.set(name, value);
  });
  parser.on('error', (cause) => reject(new AdminProblem('malformed_request', 'The body is not valid multipart/form-data.', { cause })));
  parser.on('finish', () => {
    if (arriving === undefined) refuse('The form has no file: send it in the field file.');
    else void arriving.then(resolve, reject);
  });
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const) parser.on(limit, () => refuse('The form has too many parts.'));
  const onCut = (): void => reject(new AdminProblem('malformed_request', 'The upload ended before it was complete.'));
  request.on('aborted', onCut).on('error', onCut);
  request.pipe(parser);
  return promise.catch((error: unknown) => {
    request.unpipe(parser);
    // The rest is discarded, so that the client can read the answer.
    request.resume();
    parser.destroy();
    throw error;
  });
}

function createParser(request: IncomingMessage): InstanceType<typeof Busboy> {
  try {
    return new Busboy({ headers: { ...request.headers, 'content-type': request.headers['content-type'] ?? '' }, limits });
  } catch (cause) {
    throw new AdminProblem('unsupported_type', 'Content-Type must be multipart/form-data with a boundary.', { cause });
  }
}

/** @returns the SHA-256 of the file */
async function writeFile(stream: BusboyFileStream, file: SpooledFile): Promise<string> {
  const hash = createHash('sha256');
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    if (file.bytes + chunk.length > uploadBytesMax)
      throw new AdminProblem('body_too_large', `The file must not be larger than ${uploadBytesMax} bytes.`);
    await file.write(chunk).catch((cause: unknown) => {
      throw unavailable('There is no room for another upload at the moment.', cause);
    });
    hash.update(chunk);
  }
  return hash.digest('hex');
}

/** The name without folders and invisible characters. */
function cleanName(name: string): string {
  const last = (name.toWellFormed().split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{C}/gu, '').trim();
  return Array.from(last).slice(0, nameCharactersMax).join('') || 'unnamed';
}
