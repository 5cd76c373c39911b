import type { Database } from './database.ts';
import { readInteger } from './read-column.ts';

/**
 * Taking a word out of the index takes a moment for each chunk, and everybody else would wait while thousands go. So a chunk is emptied at once, belongs to
 * nobody from then on and is found by nobody; its words leave the index in steps.
 */
const empty = "update chunks set store_id = '', file_id = cast(id as text), text = '', vector = null";

/** Takes all that the index has of a file in a store from it. */
export async function deleteFileIndex(database: Database, storeId: string, fileId: string): Promise<void> {
  await database.run(`${empty} where store_id = ? and file_id = ?`, storeId, fileId);
}

/** Takes all that the index has of a store from it. */
export async function deleteStoreIndex(database: Database, storeId: string): Promise<void> {
  await database.run(`${empty} where store_id = ?`, storeId);
}

/** Chunks whose words are taken out in one step. */
const stepRows = 200;

/** Takes the words of some emptied chunks out of the index and returns of how many. */
export async function sweepIndex(database: Database): Promise<number> {
  const rows = await database.all("select id from chunks where store_id = '' limit ?", stepRows);
  for (const row of rows) {
    const id = readInteger(row, 'id');
    await database.termIndex.remove(database, id);
    await database.run('delete from chunks where id = ?', id);
  }
  return rows.length;
}
