import { Busboy, type BusboyFileStream, type BusboyHeaders } from '@fastify/busboy';

import { GatewayError } from '../../../inference/gateway-error.ts';
import { type FileDescription, FileProblem, pieceBytes, type Upload } from '../../../tools/file-search/file-library.ts';
import type { StoredFile } from '../../../tools/file-search/file-objects.ts';
import type { FilesContext } from './files-context.ts';
import { invalid } from '../shared/read-fields.ts';
import { ignoreFileErrors } from '../../../platform/http/ignore-file-errors.ts';

const purposes = ['assistants', 'batch', 'fine-tune', 'vision', 'user_data', 'evals'];
const filenameCharactersMax = 255;
/**
 * Memory of one upload: a piece that fills, a piece that is sealed, and the read-ahead of the connection.
 */
const heldBytes = 3 * pieceBytes;

type Form = { readonly fields: Map<string, string>; filename: string | undefined };

/**
 * Receives a file piece by piece into the store. If the upload fails or the client disconnects, all of it is removed.
 * @throws GatewayError
 */
export async function receiveUpload(context: FilesContext): Promise<StoredFile> {
  const { files, request, caller, admission } = context;
  const type = request.headers['content-type'];
  if (type === undefined || !/^multipart\/form-data\b/i.test(type))
    throw new GatewayError('unsupported_media_type', 'content-type must be multipart/form-data with a boundary');
  if (!admission.holdBytes(heldBytes))
    throw new GatewayError('overloaded', 'The gateway is overloaded: it has no room for more uploads. Please try again in 1s.', {
      retryAfterSeconds: 1,
    });
  const upload = await files.library.upload(caller.userName);
  try {
    const form = await readForm(context, upload, { ...request.headers, 'content-type': type });
    return await upload.finish(describe(form));
  } catch (error) {
    await upload.discard();
    throw describeFailure(error, context);
  }
}

function readForm({ request, files, signal }: FilesContext, upload: Upload, headers: BusboyHeaders): Promise<Form> {
  const { fileBytesMax } = files.limits();
  const form: Form = { fields: new Map(), filename: undefined };
  const { promise, resolve, reject } = Promise.withResolvers<Form>();
  let writing: Promise<void> = Promise.resolve();
  // Throws for an invalid boundary.
  const parser = createParser(headers, fileBytesMax);
  ignoreFileErrors(parser);
  parser.on('file', (name, stream, filename) => {
    if (name !== 'file' || form.filename !== undefined) {
      reject(invalid(name.slice(0, 80), "expected exactly one file, in the field 'file'"));
      stream.resume();
      return;
    }
    form.filename = filename ?? '';
    writing = writeFile(stream, upload, fileBytesMax);
    writing.catch(reject);
  });
  parser.on('field', (name, value) => void form.fields.set(name, value));
  parser.on('error', (cause) => reject(new GatewayError('body_incomplete', 'the body is not valid multipart/form-data', { cause })));
  parser.on('finish', () => void writing.then(() => resolve(form), reject));
  for (const limit of ['partsLimit', 'filesLimit', 'fieldsLimit'] as const)
    parser.on(limit, () => reject(invalid('file', 'the form has too many parts')));
  const onCut = (): void => reject(new GatewayError('body_incomplete', 'the upload ended before it was complete'));
  request.on('aborted', onCut);
  request.on('error', onCut);
  signal.addEventListener('abort', onCut, { once: true });
  request.pipe(parser);
  return promise.catch((error: unknown) => {
    request.unpipe(parser);
    // The rest of the body is discarded, so that the client can read the answer.
    request.resume();
    parser.destroy();
    throw error;
  });
}

function createParser(headers: BusboyHeaders, fileBytesMax: number): InstanceType<typeof Busboy> {
  try {
    const limits = {
      fileSize: fileBytesMax + 1,
      files: 1,
      fields: 16,
      parts: 18,
      fieldSize: 4096,
      fieldNameSize: 100,
      headerPairs: 64,
      headerSize: 16_384,
    };
    return new Busboy({ headers, limits });
  } catch (cause) {
    throw new GatewayError('unsupported_media_type', 'content-type must be multipart/form-data with a boundary', { cause });
  }
}

async function writeFile(stream: BusboyFileStream, upload: Upload, bytesMax: number): Promise<void> {
  let bytes = 0;
  for await (const chunk of stream as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > bytesMax)
      throw new GatewayError('request_too_large', `The file is too large: at most ${bytesMax} bytes are accepted.`, { param: 'file' });
    await upload.write(chunk);
  }
}

function describe({ fields, filename }: Form): FileDescription {
  if (filename === undefined) throw new GatewayError('missing_required_field', "Missing required parameter: 'file'.", { param: 'file' });
  const purpose = fields.get('purpose');
  if (purpose === undefined)
    throw new GatewayError('missing_required_field', "Missing required parameter: 'purpose'.", { param: 'purpose' });
  if (!purposes.includes(purpose)) throw invalid('purpose', `expected one of ${purposes.join(', ')}`);
  const expiresAfterMs = readExpiry(fields);
  return { filename: cleanName(filename), purpose, expiresAfterMs };
}

/** The name without directories and invisible characters. */
function cleanName(filename: string): string {
  const name = (filename.toWellFormed().split(/[/\\]/).at(-1) ?? '').replaceAll(/\p{C}/gu, '').trim();
  return Array.from(name).slice(0, filenameCharactersMax).join('') || 'unnamed';
}

function readExpiry(fields: ReadonlyMap<string, string>): number | undefined {
  const anchor = fields.get('expires_after[anchor]');
  const seconds = fields.get('expires_after[seconds]');
  if (anchor === undefined && seconds === undefined) return undefined;
  if (anchor !== 'created_at') throw invalid('expires_after.anchor', "expected 'created_at'");
  const value = /^\d{1,8}$/.test(seconds ?? '') ? Number(seconds) : 0;
  if (value < 3600 || value > 2_592_000) throw invalid('expires_after.seconds', 'expected an integer from 3600 to 2592000');
  return value * 1000;
}

function describeFailure(error: unknown, { files }: FilesContext): unknown {
  if (!(error instanceof FileProblem)) return error;
  if (error.problem === 'gone') return new GatewayError('request_timeout', 'the upload took too long');
  return new GatewayError(
    'request_too_large',
    `Your files may have at most ${files.limits().userBytesMax} bytes together; delete some files.`,
    {
      param: 'file',
    },
  );
}
