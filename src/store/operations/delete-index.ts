import type { Database } from './database.ts';
import { readInteger } from './read-column.ts';

/**
 * Removing words from the index takes a moment per chunk, and everybody would wait while thousands are removed. So a
 * chunk is emptied at once and then belongs to no store, so that no search finds it. Its words are removed in steps.
 */
const empty = "update chunks set store_id = '', file_id = cast(id as text), text = '', vector = null";

/** Removes the chunks of a file in a store from the index. */
export async function deleteFileIndex(database: Database, storeId: string, fileId: string): Promise<void> {
  await database.run(`${empty} where store_id = ? and file_id = ?`, storeId, fileId);
}

/** Removes all chunks of a store from the index. */
export async function deleteStoreIndex(database: Database, storeId: string): Promise<void> {
  await database.run(`${empty} where store_id = ?`, storeId);
}

/** Chunks whose words are removed in one step. */
const stepRows = 200;

/** Removes the words of some emptied chunks from the index. Returns the number of chunks. */
export async function sweepIndex(database: Database): Promise<number> {
  const rows = await database.all("select id from chunks where store_id = '' limit ?", stepRows);
  for (const row of rows) {
    const id = readInteger(row, 'id');
    await database.termIndex.remove(database, id);
    await database.run('delete from chunks where id = ?', id);
  }
  return rows.length;
}
