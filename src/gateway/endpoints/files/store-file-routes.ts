import type { JsonObject, JsonValue } from '../../../platform/json/json-value.ts';
import { autoChunking, type IndexingStatus } from '../../../tools/file-search/file-objects.ts';
import { type AddedFile, addFiles } from './add-files.ts';
import { encodeBatch, encodeList, encodeStoreFile } from './encode-objects.ts';
import { type FilesContext, type FilesHandler, notFound } from './files-context.ts';
import { invalid, readAttributes, readChunking, readList, readObject, readOptional, readPage, readText } from '../shared/read-fields.ts';

const filesMax = 2000;

async function findStoreFile({ files, caller }: FilesContext, storeId: string, fileId: string) {
  const file = await files.store.findStoreFile({ userName: caller.userName, storeId, fileId });
  if (file === undefined) throw notFound('file in the vector store', fileId);
  return file;
}

async function findBatch({ files, caller }: FilesContext, storeId: string, batchId: string) {
  const batch = await files.store.findBatch({ userName: caller.userName, storeId, batchId });
  if (batch === undefined) throw notFound('file batch', batchId);
  return batch;
}

async function checkStore({ files, caller }: FilesContext, storeId: string): Promise<void> {
  if ((await files.store.findVectorStore({ userName: caller.userName, storeId })) === undefined) throw notFound('vector store', storeId);
}

function readAdded(body: JsonObject, fileId: JsonValue | undefined, param: string, prefix: string): AddedFile {
  return {
    fileId: readText(fileId, param),
    attributes: readOptional(body['attributes'], (value) => readAttributes(value, `${prefix}attributes`)) ?? {},
    chunking: readOptional(body['chunking_strategy'], (value) => readChunking(value, `${prefix}chunking_strategy`)) ?? autoChunking,
  };
}

export const addStoreFile: FilesHandler = async (context, [storeId = '']) => {
  const body = await context.readBody();
  const added = readAdded(body, body['file_id'], 'file_id', '');
  await addFiles(context, { storeId, added: [added], param: 'file_id' });
  return encodeStoreFile(await findStoreFile(context, storeId, added.fileId));
};

const statuses = ['in_progress', 'completed', 'failed', 'cancelled'] as const;

function readStatus(query: URLSearchParams): IndexingStatus | undefined {
  const filter = query.get('filter');
  if (filter === null) return undefined;
  const status = statuses.find((name) => name === filter);
  if (status === undefined) throw invalid('filter', `expected one of ${statuses.join(', ')}`);
  return status;
}

async function listFilesOf(context: FilesContext, storeId: string, batchId?: string): Promise<JsonObject> {
  const { files, caller, query } = context;
  const { shown, ...page } = readPage(query, { limitMax: 100, fallback: 20 });
  const status = readStatus(query);
  const rows = await files.store.listStoreFiles({ ...page, userName: caller.userName, storeId, batchId, status });
  return encodeList(rows, shown, encodeStoreFile, page.before !== undefined);
}

export const listStoreFiles: FilesHandler = async (context, [storeId = '']) => {
  await checkStore(context, storeId);
  return await listFilesOf(context, storeId);
};

export const showStoreFile: FilesHandler = async (context, [storeId = '', fileId = '']) =>
  encodeStoreFile(await findStoreFile(context, storeId, fileId));

export const changeStoreFile: FilesHandler = async (context, [storeId = '', fileId = '']) => {
  const body = await context.readBody();
  const attributes = readAttributes(body['attributes'] ?? {}, 'attributes');
  await context.files.store.changeAttributes({ userName: context.caller.userName, storeId, fileId, attributes });
  return encodeStoreFile(await findStoreFile(context, storeId, fileId));
};

export const removeStoreFile: FilesHandler = async ({ files, caller }, [storeId = '', fileId = '']) => {
  const isRemoved = await files.store.removeStoreFile({ userName: caller.userName, storeId, fileId });
  if (!isRemoved) throw notFound('file in the vector store', fileId);
  return { id: fileId, object: 'vector_store.file.deleted', deleted: true };
};

const textPageRows = 200;

/** The text of a file as it was indexed: its chunks, which overlap, page by page. */
export const showStoreFileText: FilesHandler = async (context, [storeId = '', fileId = '']) => {
  await findStoreFile(context, storeId, fileId);
  const page = context.query.get('page') ?? '0';
  if (!/^\d{1,9}$/.test(page)) throw invalid('page', 'expected what next_page said');
  const { userName } = context.caller;
  const texts = await context.files.store.readText({ userName, storeId, fileId, fromIndex: Number(page), limit: textPageRows + 1 });
  const hasMore = texts.length > textPageRows;
  return {
    object: 'vector_store.file_content.page',
    data: texts.slice(0, textPageRows).map((text) => ({ type: 'text', text })),
    has_more: hasMore,
    next_page: hasMore ? String(Number(page) + textPageRows) : null,
  };
};

function readBatchFiles(body: JsonObject): readonly AddedFile[] {
  const ids = body['file_ids'] ?? undefined;
  const listed = body['files'] ?? undefined;
  if ((ids === undefined) === (listed === undefined)) throw invalid('file_ids', "expected either 'file_ids' or 'files'");
  const added =
    ids === undefined
      ? readList(listed ?? null, 'files', filesMax).map((item, index) => {
          const file = readObject(item, `files[${index}]`);
          return readAdded(file, file['file_id'], `files[${index}].file_id`, `files[${index}].`);
        })
      : readList(ids, 'file_ids', filesMax).map((id, index) => readAdded(body, id, `file_ids[${index}]`, ''));
  if (new Set(added.map(({ fileId }) => fileId)).size < added.length) throw invalid('file_ids', 'each file may be named once');
  return added;
}

export const createBatch: FilesHandler = async (context, [storeId = '']) => {
  const added = readBatchFiles(await context.readBody());
  const batchId = context.gateway.newId('vsfb');
  await addFiles(context, { storeId, batchId, added, param: 'file_ids' });
  return encodeBatch(await findBatch(context, storeId, batchId));
};

export const showBatch: FilesHandler = async (context, [storeId = '', batchId = '']) =>
  encodeBatch(await findBatch(context, storeId, batchId));

export const cancelBatch: FilesHandler = async (context, [storeId = '', batchId = '']) => {
  await context.files.store.cancelBatch({ userName: context.caller.userName, storeId, batchId });
  return encodeBatch(await findBatch(context, storeId, batchId));
};

export const listBatchFiles: FilesHandler = async (context, [storeId = '', batchId = '']) => {
  await findBatch(context, storeId, batchId);
  return await listFilesOf(context, storeId, batchId);
};
