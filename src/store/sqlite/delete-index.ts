import type { Database } from './open-database.ts';

/** Takes all that the index has of a file in a store out of it. */
export function deleteFileIndex(database: Database, storeId: string, fileId: string): void {
  const chunks = 'from chunks where store_id = ? and file_id = ?';
  database.run(`delete from chunk_terms where rowid in (select id ${chunks})`, storeId, fileId);
  database.run(`delete ${chunks}`, storeId, fileId);
}

/** Takes all that the index has of a store out of it. */
export function deleteStoreIndex(database: Database, storeId: string): void {
  database.run('delete from chunk_terms where rowid in (select id from chunks where store_id = ?)', storeId);
  database.run('delete from chunks where store_id = ?', storeId);
}
