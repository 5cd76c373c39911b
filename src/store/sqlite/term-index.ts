import { readInteger, readReal, readText } from '../operations/read-column.ts';
import type { TermIndex } from '../operations/term-index.ts';

/** A store as one word of the index. */
function scopeOf(storeId: string): string {
  return storeId.replaceAll(/[^0-9A-Za-z]/g, '');
}

const searchSql = `select chunks.id as id, file_id, bm25(chunk_terms, 0.0, 1.0) as distance from chunk_terms
  join chunks on chunks.id = chunk_terms.rowid where chunk_terms match ? and store_id = ?`;

/** The full-text index of SQLite. */
export const termIndex: TermIndex = {
  add: async (database, { id, storeId, terms }) => {
    await database.run('insert into chunk_terms (rowid, scope, terms) values (?, ?, ?)', id, scopeOf(storeId), terms);
  },
  remove: async (database, id) => {
    await database.run('delete from chunk_terms where rowid = ?', id);
  },
  search: async (database, { storeId, match }) => {
    const rows = await database.all(searchSql, `scope : "${scopeOf(storeId)}" AND terms : (${match})`, storeId);
    return rows.map((row) => ({ id: readInteger(row, 'id'), fileId: readText(row, 'file_id'), score: -readReal(row, 'distance') }));
  },
};
