import { parseJsonObject } from '../../platform/json/parse-json.ts';
import type { Attributes, Chunk, FoundChunk } from '../../tools/file-search/file-objects.ts';
import type { ChunkStore, IndexingLease, IndexingTask } from '../../tools/file-search/file-store.ts';
import { deleteFileIndex } from './delete-index.ts';
import type { Database } from './database.ts';
import type { SqlRow } from './sql-values.ts';
import { readInteger, readText } from './read-column.ts';
import { searchChunks } from './search-chunks.ts';
import type { FileSearchOperations } from '../worker/store-protocol.ts';

type ChunkOperations = Pick<FileSearchOperations, keyof ChunkStore>;

const held = "store_id = ? and file_id = ? and lease_owner = ? and status = 'in_progress'";
const keysOf = ({ storeId, fileId, owner }: IndexingLease): readonly [string, string, string] => [storeId, fileId, owner];

/** The SQL of the index of chunks. */
export function createChunkOperations(database: Database): ChunkOperations {
  return {
    claimIndexing: (claim) => database.transact((transaction) => claimIndexing(transaction, claim)),
    renewIndexing: async (lease) =>
      (await database.run(`update store_files set lease_until_ms = ? where ${held}`, lease.leaseUntilMs, ...keysOf(lease))) === 1,
    addChunks: (added) => database.transact((transaction) => addChunks(transaction, added)),
    finishIndexing: (end) => database.transact((transaction) => finishIndexing(transaction, end)),
    postponeIndexing: async (lease) => {
      // A pause does not count as an attempt: the reason for it is not in the file.
      const sql = `update store_files set lease_owner = null, lease_until_ms = ?, attempts = attempts - 1 where ${held}`;
      await database.run(sql, lease.untilMs, ...keysOf(lease));
    },
    searchChunks: (query) => searchChunks(database, query),
    readChunks: async ({ userName, ids }) => {
      const found: FoundChunk[] = [];
      for (const id of ids) {
        const chunk = await readChunk(database, userName, id);
        if (chunk !== undefined) found.push(chunk);
      }
      return found;
    },
    readText: async ({ userName, storeId, fileId, fromIndex, limit }) => {
      const sql = `select text from chunks join vector_stores on vector_stores.id = store_id
        where store_id = ? and file_id = ? and user_name = ? and chunk_index >= ? order by chunk_index limit ?`;
      return (await database.all(sql, storeId, fileId, userName, fromIndex, limit)).map((row) => readText(row, 'text'));
    },
  };
}

const waiting = (
  exceptUsers: readonly string[],
): string => `select store_id, file_id, files.user_name, is_auto, chunk_tokens, overlap_tokens, attempts from store_files
  join files on files.id = file_id where status = 'in_progress' and lease_until_ms <= ?
  ${exceptUsers.length === 0 ? '' : `and files.user_name not in (${exceptUsers.map(() => '?').join(', ')})`} order by store_files.created_at_ms limit 1`;

async function claimIndexing(
  database: Database,
  { owner, nowMs, leaseMs, attemptsMax, exceptUsers = [] }: Parameters<ChunkOperations['claimIndexing']>[0],
): Promise<IndexingTask | undefined> {
  const sql = `${waiting(exceptUsers)} ${database.fragments.forUpdateOfFree('store_files')}`;
  for (;;) {
    const row = await database.first(sql, nowMs, ...exceptUsers);
    if (row === undefined) return undefined;
    const lease = { storeId: readText(row, 'store_id'), fileId: readText(row, 'file_id'), owner };
    await deleteFileIndex(database, lease.storeId, lease.fileId);
    const take = `update store_files set lease_owner = ?, lease_until_ms = ?, attempts = attempts + 1, usage_bytes = 0
      where store_id = ? and file_id = ?`;
    await database.run(take, owner, nowMs + leaseMs, lease.storeId, lease.fileId);
    if (readInteger(row, 'attempts') < attemptsMax)
      return { ...lease, userName: readText(row, 'user_name'), chunking: decodeChunking(row) };
    const error = { code: 'server_error', message: 'Indexing this file was started several times and never finished.' } as const;
    await finishIndexing(database, { ...lease, status: 'failed', error });
  }
}

function decodeChunking(row: SqlRow): IndexingTask['chunking'] {
  return {
    isAuto: readInteger(row, 'is_auto') === 1,
    tokensMax: readInteger(row, 'chunk_tokens'),
    overlapTokens: readInteger(row, 'overlap_tokens'),
  };
}

async function addChunks(database: Database, added: Parameters<ChunkOperations['addChunks']>[0]): Promise<boolean> {
  const { storeId, fileId, firstIndex, chunks } = added;
  const bytes = chunks.reduce((sum, chunk) => sum + bytesOf(chunk), 0);
  if ((await database.run(`update store_files set usage_bytes = usage_bytes + ? where ${held}`, bytes, ...keysOf(added))) !== 1)
    return false;
  for (const [offset, { text, terms, vector }] of chunks.entries()) {
    const blob = vector === undefined ? null : new Uint8Array(vector.buffer, vector.byteOffset, vector.byteLength);
    const insert = 'insert into chunks (store_id, file_id, chunk_index, text, vector) values (?, ?, ?, ?, ?) returning id';
    const row = await database.first(insert, storeId, fileId, firstIndex + offset, text, blob);
    if (row === undefined) return false;
    await database.termIndex.add(database, { id: readInteger(row, 'id'), storeId, terms });
  }
  return true;
}

function bytesOf({ text, vector }: Chunk): number {
  return Buffer.byteLength(text) + (vector?.byteLength ?? 0);
}

async function finishIndexing(database: Database, end: Parameters<ChunkOperations['finishIndexing']>[0]): Promise<boolean> {
  const { storeId, fileId, status, error } = end;
  if (status === 'completed')
    return (await database.run(`update store_files set status = 'completed', lease_owner = null where ${held}`, ...keysOf(end))) === 1;
  const sql = `update store_files set status = 'failed', lease_owner = null, usage_bytes = 0, error_code = ?, error_message = ? where ${held}`;
  if ((await database.run(sql, error?.code ?? 'server_error', error?.message ?? 'The file could not be indexed.', ...keysOf(end))) !== 1)
    return false;
  await deleteFileIndex(database, storeId, fileId);
  return true;
}

async function readChunk(database: Database, userName: string, id: number): Promise<FoundChunk | undefined> {
  const sql = `select chunks.store_id, chunks.file_id, filename, attributes, text from chunks
    join store_files on store_files.store_id = chunks.store_id and store_files.file_id = chunks.file_id
    join files on files.id = chunks.file_id where chunks.id = ? and files.user_name = ?`;
  const row = await database.first(sql, id, userName);
  if (row === undefined) return undefined;
  return {
    id,
    storeId: readText(row, 'store_id'),
    fileId: readText(row, 'file_id'),
    filename: readText(row, 'filename'),
    attributes: (parseJsonObject(readText(row, 'attributes')) ?? {}) as Attributes,
    text: readText(row, 'text'),
  };
}
