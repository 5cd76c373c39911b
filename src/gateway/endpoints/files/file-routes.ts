import { GatewayError } from '../../../inference/gateway-error.ts';
import type { StoredFile } from '../../../tools/file-search/file-objects.ts';
import { requestIdHeader } from '../../replies/write-reply.ts';
import { encodeFile, encodeList } from './encode-objects.ts';
import { type FilesContext, type FilesHandler, notFound } from './files-context.ts';
import { readPage } from '../shared/read-fields.ts';
import { receiveUpload } from './receive-upload.ts';

async function findFile({ files, caller, gateway }: FilesContext, id: string): Promise<StoredFile> {
  const file = await files.store.findFile({ userName: caller.userName, fileId: id, nowMs: gateway.clock.nowMs() });
  if (file === undefined) throw notFound('file', id);
  return file;
}

export const createFile: FilesHandler = async (context) => encodeFile(await receiveUpload(context));

export const listFiles: FilesHandler = async ({ files, caller, gateway, query }) => {
  const { shown, ...page } = readPage(query, { limitMax: 10_000, fallback: 10_000 });
  const purpose = query.get('purpose') ?? undefined;
  const rows = await files.store.listFiles({ ...page, userName: caller.userName, purpose, nowMs: gateway.clock.nowMs() });
  return encodeList(rows, shown, encodeFile);
};

export const showFile: FilesHandler = async (context, [id = '']) => encodeFile(await findFile(context, id));

export const deleteFile: FilesHandler = async ({ files, caller }, [id = '']) => {
  if (!(await files.store.deleteFile({ userName: caller.userName, fileId: id }))) throw notFound('file', id);
  return { id, object: 'file', deleted: true };
};

/** Sends the content piece by piece, at the client's pace. */
export const sendContent: FilesHandler = async (context, [id = '']) => {
  const file = await findFile(context, id);
  const { response, files, callId, signal } = context;
  const pieces = files.library.read(file);
  const first = await pieces.next();
  // As a download: content of users must not run in a browser under the gateway's address.
  response.writeHead(200, {
    'content-type': 'application/octet-stream',
    'content-length': String(file.bytes),
    'content-disposition': `attachment; filename*=UTF-8''${encodeURIComponent(file.filename.toWellFormed())}`,
    'x-content-type-options': 'nosniff',
    [requestIdHeader]: callId,
  });
  try {
    if (first.done !== true) await writePiece(context, first.value);
    for await (const piece of pieces) await writePiece(context, piece);
    response.end();
  } catch (error) {
    // The status is sent already, so the reply can only be cut.
    if (!signal.aborted) context.gateway.logger.error({ callId, err: error }, 'file content truncated');
    response.destroy();
  }
  return undefined;
};

async function writePiece({ response, signal, gateway }: FilesContext, piece: Buffer): Promise<void> {
  if (signal.aborted) throw new GatewayError('request_timeout', 'the client has left');
  if (response.write(piece)) return;
  const patience = AbortSignal.any([signal, AbortSignal.timeout(gateway.settings().timeouts.stalledReaderMs)]);
  await new Promise<void>((resolve, reject) => {
    const onAbort = (): void => reject(new GatewayError('request_timeout', 'the client does not read its reply'));
    patience.addEventListener('abort', onAbort, { once: true });
    response.once('drain', () => {
      patience.removeEventListener('abort', onAbort);
      resolve();
    });
  });
}
