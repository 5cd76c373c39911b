import type { StoredFile } from '../../tools/file-search/file-objects.ts';
import type { FilesStore } from '../../tools/file-search/file-store.ts';
import { deleteFileIndex, deleteStoreIndex, sweepIndex } from './delete-index.ts';
import { readPage } from './list-page.ts';
import type { Database, SqlRow } from './open-database.ts';
import { readBytes, readInteger, readOptionalInteger, readText } from './read-column.ts';
import type { FileSearchOperations } from './store-protocol.ts';

type FileOperations = Pick<FileSearchOperations, keyof FilesStore>;

const columns = 'id, user_name, filename, purpose, media_type, bytes, created_at_ms, expires_at_ms';
const living = 'user_name = ? and is_finished = 1 and (expires_at_ms is null or expires_at_ms > ?)';

/** Files and their sealed content on a connection. */
export function createFileOperations(database: Database): FileOperations {
  return {
    beginUpload: ({ userName, fileId, startedAtMs }) => {
      const sql = `insert into files (id, user_name, filename, purpose, media_type, bytes, created_at_ms, is_finished)
        values (?, ?, '', '', '', 0, ?, 0)`;
      database.run(sql, fileId, userName, startedAtMs);
    },
    appendPiece: ({ fileId, index, sealed }) =>
      database.transact(() => {
        if (database.first('select 1 from files where id = ? and is_finished = 0', fileId) === undefined) return false;
        database.run('insert into file_pieces (file_id, piece_index, sealed) values (?, ?, ?)', fileId, index, sealed);
        return true;
      }),
    finishUpload: (file, userBytesMax) => database.transact(() => finishUpload(database, file, userBytesMax)),
    discardUpload: (fileId) =>
      database.transact(() => {
        if (database.first('select 1 from files where id = ? and is_finished = 0', fileId) !== undefined) eraseFile(database, fileId);
      }),
    readPiece: ({ fileId, index }) => {
      const row = database.first('select sealed from file_pieces where file_id = ? and piece_index = ?', fileId, index);
      return row === undefined ? undefined : readBytes(row, 'sealed');
    },
    findFile: ({ userName, fileId, nowMs }) => {
      const row = database.first(`select ${columns} from files where id = ? and ${living}`, fileId, userName, nowMs);
      return row === undefined ? undefined : decodeFile(row);
    },
    listFiles: ({ userName, purpose, nowMs, ...page }) => {
      const where = purpose === undefined ? living : `${living} and purpose = ?`;
      const parameters = [userName, nowMs, ...(purpose === undefined ? [] : [purpose])];
      return readPage(database, { columns, from: 'files', where, idColumn: 'id', parameters }, page).map(decodeFile);
    },
    deleteFile: ({ userName, fileId }) =>
      database.transact(() => {
        const sql = 'select 1 from files where id = ? and user_name = ? and is_finished = 1';
        if (database.first(sql, fileId, userName) === undefined) return false;
        eraseFile(database, fileId);
        return true;
      }),
    sweepFiles: (limits) => database.transact(() => sweep(database, limits)),
  };
}

function finishUpload(database: Database, file: StoredFile, userBytesMax: number): boolean | 'no-room' {
  const sum = database.first('select coalesce(sum(bytes), 0) as total from files where user_name = ?', file.userName);
  if (sum !== undefined && readInteger(sum, 'total') + file.bytes > userBytesMax) return 'no-room';
  const sql = `update files set filename = ?, purpose = ?, media_type = ?, bytes = ?, created_at_ms = ?, expires_at_ms = ?, is_finished = 1
    where id = ? and user_name = ? and is_finished = 0`;
  const { filename, purpose, mediaType, bytes, createdAtMs, expiresAtMs, id, userName } = file;
  return database.run(sql, filename, purpose, mediaType, bytes, createdAtMs, expiresAtMs ?? null, id, userName) === 1;
}

function eraseFile(database: Database, fileId: string): void {
  for (const row of database.all('select store_id from store_files where file_id = ?', fileId))
    deleteFileIndex(database, readText(row, 'store_id'), fileId);
  database.run('delete from store_files where file_id = ?', fileId);
  database.run('delete from file_pieces where file_id = ?', fileId);
  database.run('delete from files where id = ?', fileId);
}

const expiredStores = `select id from vector_stores
  where expires_after_days is not null and last_active_at_ms + expires_after_days * 86400000 <= ?
    and exists (select 1 from store_files where store_id = vector_stores.id) limit ?`;

function sweep(database: Database, { nowMs, uploadsBeforeMs, rowsMax }: Parameters<FileOperations['sweepFiles']>[0]): number {
  const expired = database.all('select id from files where expires_at_ms is not null and expires_at_ms <= ? limit ?', nowMs, rowsMax);
  const left = database.all('select id from files where is_finished = 0 and created_at_ms < ? limit ?', uploadsBeforeMs, rowsMax);
  for (const row of [...expired, ...left]) eraseFile(database, readText(row, 'id'));
  const stores = database.all(expiredStores, nowMs, rowsMax);
  for (const row of stores) {
    const storeId = readText(row, 'id');
    deleteStoreIndex(database, storeId);
    database.run('delete from store_files where store_id = ?', storeId);
  }
  return expired.length + left.length + stores.length + sweepIndex(database);
}

function decodeFile(row: SqlRow): StoredFile {
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
