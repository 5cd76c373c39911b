import type { StoredFile } from '../../tools/file-search/file-objects.ts';
import type { FilesStore } from '../../tools/file-search/file-store.ts';
import { deleteFileIndex, deleteStoreIndex, sweepIndex } from './delete-index.ts';
import { readPage } from './list-page.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readBytes, readInteger, readOptionalInteger, readText } from './read-column.ts';
import type { FileSearchOperations } from '../worker/store-protocol.ts';

type FileOperations = Pick<FileSearchOperations, keyof FilesStore>;

export const fileColumns = 'id, user_name, filename, purpose, media_type, bytes, created_at_ms, expires_at_ms';
const living = 'user_name = ? and is_finished = 1 and (expires_at_ms is null or expires_at_ms > ?)';

/** The SQL of files and their sealed content. */
export function createFileOperations(database: Database): FileOperations {
  return {
    beginUpload: async ({ userName, fileId, startedAtMs }) => {
      const sql = `insert into files (id, user_name, filename, purpose, media_type, bytes, created_at_ms, is_finished)
        values (?, ?, '', '', '', 0, ?, 0)`;
      await database.run(sql, fileId, userName, startedAtMs);
    },
    appendPiece: ({ fileId, index, sealed }) =>
      database.transact(async (transaction) => {
        if ((await transaction.first('select 1 from files where id = ? and is_finished = 0', fileId)) === undefined) return false;
        await transaction.run('insert into file_pieces (file_id, piece_index, sealed) values (?, ?, ?)', fileId, index, sealed);
        return true;
      }),
    finishUpload: (file, userBytesMax) => database.transact((transaction) => finishUpload(transaction, file, userBytesMax)),
    discardUpload: (fileId) =>
      database.transact(async (transaction) => {
        if ((await transaction.first('select 1 from files where id = ? and is_finished = 0', fileId)) !== undefined)
          await eraseFile(transaction, fileId);
      }),
    readPiece: async ({ fileId, index }) => {
      const row = await database.first('select sealed from file_pieces where file_id = ? and piece_index = ?', fileId, index);
      return row === undefined ? undefined : readBytes(row, 'sealed');
    },
    findFile: async ({ userName, fileId, nowMs }) => {
      const row = await database.first(`select ${fileColumns} from files where id = ? and ${living}`, fileId, userName, nowMs);
      return row === undefined ? undefined : decodeFile(row);
    },
    listFiles: async ({ userName, purpose, nowMs, ...page }) => {
      const where = purpose === undefined ? living : `${living} and purpose = ?`;
      const parameters = [userName, nowMs, ...(purpose === undefined ? [] : [purpose])];
      return (await readPage(database, { columns: fileColumns, from: 'files', where, idColumn: 'id', parameters }, page)).map(decodeFile);
    },
    deleteFile: ({ userName, fileId }) =>
      database.transact(async (transaction) => {
        const sql = 'select 1 from files where id = ? and user_name = ? and is_finished = 1';
        if ((await transaction.first(sql, fileId, userName)) === undefined) return false;
        await eraseFile(transaction, fileId);
        return true;
      }),
    sweepFiles: (limits) => database.transact((transaction) => sweep(transaction, limits)),
  };
}

async function finishUpload(database: Database, file: StoredFile, userBytesMax: number): Promise<boolean | 'no-room'> {
  const sum = await database.first('select coalesce(sum(bytes), 0) as total from files where user_name = ?', file.userName);
  if (sum !== undefined && readInteger(sum, 'total') + file.bytes > userBytesMax) return 'no-room';
  const sql = `update files set filename = ?, purpose = ?, media_type = ?, bytes = ?, created_at_ms = ?, expires_at_ms = ?, is_finished = 1
    where id = ? and user_name = ? and is_finished = 0`;
  const { filename, purpose, mediaType, bytes, createdAtMs, expiresAtMs, id, userName } = file;
  return (await database.run(sql, filename, purpose, mediaType, bytes, createdAtMs, expiresAtMs ?? null, id, userName)) === 1;
}

/** Deletes a file and all that was made from it. */
export async function eraseFile(database: Database, fileId: string): Promise<void> {
  for (const row of await database.all('select store_id from store_files where file_id = ?', fileId))
    await deleteFileIndex(database, readText(row, 'store_id'), fileId);
  await database.run('delete from store_files where file_id = ?', fileId);
  await database.run('delete from file_pieces where file_id = ?', fileId);
  await database.run('delete from files where id = ?', fileId);
}

const expiredStores = `select id from vector_stores
  where expires_after_days is not null and last_active_at_ms + expires_after_days * 86400000 <= ?
    and exists (select 1 from store_files where store_id = vector_stores.id) limit ?`;

async function sweep(
  database: Database,
  { nowMs, uploadsBeforeMs, rowsMax }: Parameters<FileOperations['sweepFiles']>[0],
): Promise<number> {
  const expired = await database.all('select id from files where expires_at_ms is not null and expires_at_ms <= ? limit ?', nowMs, rowsMax);
  const left = await database.all('select id from files where is_finished = 0 and created_at_ms < ? limit ?', uploadsBeforeMs, rowsMax);
  for (const row of [...expired, ...left]) await eraseFile(database, readText(row, 'id'));
  const stores = await database.all(expiredStores, nowMs, rowsMax);
  for (const row of stores) {
    const storeId = readText(row, 'id');
    await deleteStoreIndex(database, storeId);
    await database.run('delete from store_files where store_id = ?', storeId);
  }
  return expired.length + left.length + stores.length + (await sweepIndex(database));
}

export function decodeFile(row: SqlRow): StoredFile {
  const expiresAtMs = readOptionalInteger(row, 'expires_at_ms');
  return {
    id: readText(row, 'id'),
    userName: readText(row, 'user_name'),
    filename: readText(row, 'filename'),
    purpose: readText(row, 'purpose'),
    mediaType: readText(row, 'media_type'),
    bytes: readInteger(row, 'bytes'),
    createdAtMs: readInteger(row, 'created_at_ms'),
    ...(expiresAtMs === undefined ? {} : { expiresAtMs }),
  };
}
