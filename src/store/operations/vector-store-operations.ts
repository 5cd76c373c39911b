import type { Attributes, CountedStore, FileBatch, FileCounts, IndexingStatus, StoreFile } from '../../tools/file-search/file-objects.ts';
import type { VectorStoresStore } from '../../tools/file-search/file-store.ts';
import { parseJsonObject } from '../../platform/json/parse-json.ts';
import { StoreError } from '../store-error.ts';
import { deleteFileIndex, deleteStoreIndex } from './delete-index.ts';
import { readPage } from './list-page.ts';
import type { Database } from './database.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';
import { readInteger, readOptionalInteger, readOptionalText, readText } from './read-column.ts';
import type { FileSearchOperations } from '../worker/store-protocol.ts';

type VectorStoreOperations = Pick<FileSearchOperations, keyof VectorStoresStore>;

export const storeColumns = 'id, user_name, name, metadata, created_at_ms, last_active_at_ms, expires_after_days';
const fileColumns =
  'store_id, file_id, batch_id, status, error_code, error_message, attributes, is_auto, chunk_tokens, overlap_tokens, created_at_ms, usage_bytes';
const ownStore = 'select 1 from vector_stores where id = ? and user_name = ?';

/** The SQL of vector stores, their files and batches. */
export function createVectorStoreOperations(database: Database): VectorStoreOperations {
  const { greatest } = database.fragments;
  return {
    insertVectorStore: async ({ id, userName, name, metadata, createdAtMs, lastActiveAtMs, expiresAfterDays }) => {
      const sql = `insert into vector_stores (${storeColumns}) values (?, ?, ?, ?, ?, ?, ?)`;
      await database.run(sql, id, userName, name, JSON.stringify(metadata), createdAtMs, lastActiveAtMs, expiresAfterDays ?? null);
    },
    findVectorStore: async ({ userName, storeId }) => {
      const row = await database.first(`select ${storeColumns} from vector_stores where id = ? and user_name = ?`, storeId, userName);
      return row === undefined ? undefined : await decodeStore(database, row);
    },
    listVectorStores: async ({ userName, ...page }) => {
      const query = { columns: storeColumns, from: 'vector_stores', where: 'user_name = ?', idColumn: 'id', parameters: [userName] };
      const stores: CountedStore[] = [];
      for (const row of await readPage(database, query, page)) stores.push(await decodeStore(database, row));
      return stores;
    },
    changeVectorStore: async ({ id, userName, name, metadata, lastActiveAtMs, expiresAfterDays }) => {
      const sql = `update vector_stores set name = ?, metadata = ?, last_active_at_ms = ?, expires_after_days = ?
        where id = ? and user_name = ?`;
      return (await database.run(sql, name, JSON.stringify(metadata), lastActiveAtMs, expiresAfterDays ?? null, id, userName)) === 1;
    },
    touchVectorStore: async ({ userName, storeId, nowMs }) => {
      const sql = `update vector_stores set last_active_at_ms = ${greatest}(last_active_at_ms, ?) where id = ? and user_name = ?`;
      await database.run(sql, nowMs, storeId, userName);
    },
    deleteVectorStore: ({ userName, storeId }) =>
      database.transact(async (transaction) => {
        if (!(await owns(transaction, storeId, userName))) return false;
        return await eraseVectorStore(transaction, storeId);
      }),
    addStoreFiles: (added) => database.transact((transaction) => addStoreFiles(transaction, added)),
    ...createStoreFileOperations(database),
    ...createBatchOperations(database),
  };
}

/** Deletes a store and its index; the files stay. */
export async function eraseVectorStore(transaction: Database, storeId: string): Promise<boolean> {
  await deleteStoreIndex(transaction, storeId);
  for (const table of ['store_files', 'file_batches']) await transaction.run(`delete from ${table} where store_id = ?`, storeId);
  return (await transaction.run('delete from vector_stores where id = ?', storeId)) === 1;
}

async function owns(database: Database, storeId: string, userName: string): Promise<boolean> {
  return (await database.first(ownStore, storeId, userName)) !== undefined;
}

function createStoreFileOperations(database: Database) {
  const one = 'store_id = ? and file_id = ?';
  return {
    findStoreFile: async ({ userName, storeId, fileId }) => {
      if (!(await owns(database, storeId, userName))) return undefined;
      const row = await database.first(`select ${fileColumns} from store_files where ${one}`, storeId, fileId);
      return row === undefined ? undefined : decodeStoreFile(row);
    },
    listStoreFiles: async ({ userName, storeId, batchId, status, ...page }) => {
      if (!(await owns(database, storeId, userName))) return [];
      const parameters: SqlParameter[] = [storeId];
      let where = 'store_id = ?';
      if (batchId !== undefined) {
        where += ' and batch_id = ?';
        parameters.push(batchId);
      }
      if (status !== undefined) {
        where += ' and status = ?';
        parameters.push(status);
      }
      const query = { columns: fileColumns, from: 'store_files', where, idColumn: 'file_id', parameters };
      return (await readPage(database, query, page)).map(decodeStoreFile);
    },
    changeAttributes: async ({ userName, storeId, fileId, attributes }) =>
      (await owns(database, storeId, userName)) &&
      (await database.run(`update store_files set attributes = ? where ${one}`, JSON.stringify(attributes), storeId, fileId)) === 1,
    removeStoreFile: ({ userName, storeId, fileId }) =>
      database.transact(async (transaction) => {
        if (!(await owns(transaction, storeId, userName))) return false;
        await deleteFileIndex(transaction, storeId, fileId);
        return (await transaction.run(`delete from store_files where ${one}`, storeId, fileId)) === 1;
      }),
  } satisfies Partial<VectorStoreOperations>;
}

function createBatchOperations(database: Database) {
  const select = 'select id, store_id, created_at_ms, is_cancelled from file_batches where id = ? and store_id = ?';
  return {
    findBatch: async ({ userName, storeId, batchId }) => {
      const row = (await owns(database, storeId, userName)) ? await database.first(select, batchId, storeId) : undefined;
      return row === undefined ? undefined : await decodeBatch(database, row);
    },
    cancelBatch: ({ userName, storeId, batchId }) =>
      database.transact(async (transaction) => {
        if (!(await owns(transaction, storeId, userName)) || (await transaction.first(select, batchId, storeId)) === undefined)
          return false;
        const waiting = "select file_id from store_files where batch_id = ? and status = 'in_progress'";
        for (const row of await transaction.all(waiting, batchId)) await deleteFileIndex(transaction, storeId, readText(row, 'file_id'));
        await transaction.run(
          "update store_files set status = 'cancelled', lease_owner = null, usage_bytes = 0 where batch_id = ? and status = 'in_progress'",
          batchId,
        );
        return (await transaction.run('update file_batches set is_cancelled = 1 where id = ?', batchId)) === 1;
      }),
  } satisfies Partial<VectorStoreOperations>;
}

const upsertFile = `insert into store_files (${fileColumns}, lease_owner, lease_until_ms, attempts)
  values (?, ?, ?, 'in_progress', null, null, ?, ?, ?, ?, ?, 0, null, 0, 0)
  on conflict (store_id, file_id) do update set batch_id = excluded.batch_id, status = excluded.status, error_code = null, error_message = null,
    attributes = excluded.attributes, is_auto = excluded.is_auto, chunk_tokens = excluded.chunk_tokens, overlap_tokens = excluded.overlap_tokens,
    created_at_ms = excluded.created_at_ms, usage_bytes = 0, lease_owner = null, lease_until_ms = 0, attempts = 0`;

async function addStoreFiles(
  database: Database,
  { userName, storeId, batchId, files, nowMs }: Parameters<VectorStoreOperations['addStoreFiles']>[0],
): Promise<readonly string[] | 'no-store'> {
  if (!(await owns(database, storeId, userName))) return 'no-store';
  const living = 'select 1 from files where id = ? and user_name = ? and is_finished = 1 and (expires_at_ms is null or expires_at_ms > ?)';
  const missing: string[] = [];
  for (const { fileId } of files) if ((await database.first(living, fileId, userName, nowMs)) === undefined) missing.push(fileId);
  if (missing.length > 0) return missing;
  if (batchId !== undefined)
    await database.run('insert into file_batches (id, store_id, created_at_ms, is_cancelled) values (?, ?, ?, 0)', batchId, storeId, nowMs);
  for (const { fileId, attributes, chunking } of files) {
    await deleteFileIndex(database, storeId, fileId);
    const { isAuto, tokensMax, overlapTokens } = chunking;
    const cut = [isAuto ? 1 : 0, tokensMax, overlapTokens] as const;
    await database.run(upsertFile, storeId, fileId, batchId ?? null, JSON.stringify(attributes), ...cut, nowMs);
  }
  const { greatest } = database.fragments;
  await database.run(`update vector_stores set last_active_at_ms = ${greatest}(last_active_at_ms, ?) where id = ?`, nowMs, storeId);
  return [];
}

export async function decodeStore(database: Database, row: SqlRow): Promise<CountedStore> {
  const id = readText(row, 'id');
  const expiresAfterDays = readOptionalInteger(row, 'expires_after_days');
  const { counts, usageBytes } = await count(database, 'store_id', id);
  return {
    id,
    userName: readText(row, 'user_name'),
    name: readText(row, 'name'),
    metadata: readObject(row, 'metadata'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    lastActiveAtMs: readInteger(row, 'last_active_at_ms'),
    ...(expiresAfterDays === undefined ? {} : { expiresAfterDays }),
    counts,
    usageBytes,
  };
}

async function count(
  database: Database,
  column: 'store_id' | 'batch_id',
  id: string,
): Promise<{ readonly counts: FileCounts; readonly usageBytes: number }> {
  const sql = `select status, count(*) as files, sum(usage_bytes) as bytes from store_files where ${column} = ? group by status`;
  const counts = { in_progress: 0, completed: 0, failed: 0, cancelled: 0 };
  let usageBytes = 0;
  for (const row of await database.all(sql, id)) {
    counts[readStatus(row)] = readInteger(row, 'files');
    usageBytes += readInteger(row, 'bytes');
  }
  return { counts, usageBytes };
}

async function decodeBatch(database: Database, row: SqlRow): Promise<FileBatch> {
  const id = readText(row, 'id');
  return {
    id,
    storeId: readText(row, 'store_id'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    isCancelled: readInteger(row, 'is_cancelled') === 1,
    counts: (await count(database, 'batch_id', id)).counts,
  };
}

function decodeStoreFile(row: SqlRow): StoreFile {
  const batchId = readOptionalText(row, 'batch_id');
  const message = readOptionalText(row, 'error_message');
  return {
    storeId: readText(row, 'store_id'),
    fileId: readText(row, 'file_id'),
    ...(batchId === undefined ? {} : { batchId }),
    status: readStatus(row),
    ...(message === undefined ? {} : { error: { code: readErrorCode(row), message } }),
    attributes: readObject(row, 'attributes') as Attributes,
    chunking: {
      isAuto: readInteger(row, 'is_auto') === 1,
      tokensMax: readInteger(row, 'chunk_tokens'),
      overlapTokens: readInteger(row, 'overlap_tokens'),
    },
    createdAtMs: readInteger(row, 'created_at_ms'),
    usageBytes: readInteger(row, 'usage_bytes'),
  };
}

function readStatus(row: SqlRow): IndexingStatus {
  const status = readText(row, 'status');
  if (status === 'in_progress' || status === 'completed' || status === 'failed' || status === 'cancelled') return status;
  throw new StoreError('corrupt', 'Column status is not a known status of a file.');
}

function readErrorCode(row: SqlRow): NonNullable<StoreFile['error']>['code'] {
  const code = readText(row, 'error_code');
  return code === 'unsupported_file' || code === 'invalid_file' ? code : 'server_error';
}

function readObject(row: SqlRow, column: string): NonNullable<ReturnType<typeof parseJsonObject>> {
  const object = parseJsonObject(readText(row, column));
  if (object === undefined) throw new StoreError('corrupt', `Column ${column} is not a JSON object.`);
  return object;
}
