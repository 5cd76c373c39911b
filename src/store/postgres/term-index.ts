import { readInteger, readReal, readText } from '../operations/read-column.ts';
import type { TermIndex } from '../operations/term-index.ts';

const words = /[\p{L}\p{N}\p{M}]+/gu;
const marks = /\p{M}/gu;

/** Words without accents, as in SQLite's index: the same search finds the same chunks. */
function toWords(text: string): readonly string[] {
  return text.normalize('NFD').replaceAll(marks, '').match(words) ?? [];
}

const searchSql = `select id, file_id, cast(ts_rank_cd(terms, query, 1) as double precision) as score
  from chunks, cast(to_tsquery('weir_terms', ?) as tsquery) as query where terms @@ query and store_id = ?`;

/** The full-text search of PostgreSQL: words and their stems in a column of `chunks`. */
export const termIndex: TermIndex = {
  add: async (database, { id, terms }) => {
    await database.run("update chunks set terms = to_tsvector('weir_terms', ?) where id = ?", toWords(terms).join(' '), id);
  },
  remove: async (database, id) => {
    await database.run('update chunks set terms = null where id = ?', id);
  },
  search: async (database, { storeId, match }) => {
    // Words in quotes, joined by OR; only letters and digits of each remain, which have no meaning in the grammar of
    // queries.
    const terms = [...match.matchAll(/"([^"]*)"/g)].flatMap(([, word = '']) => toWords(word).map((part) => `'${part}'`));
    if (terms.length === 0) return [];
    const rows = await database.all(searchSql, terms.join(' | '), storeId);
    return rows.map((row) => ({ id: readInteger(row, 'id'), fileId: readText(row, 'file_id'), score: readReal(row, 'score') }));
  },
};
