import type { ListPage } from '../../tools/file-search/file-store.ts';
import type { Database } from './database.ts';
import type { SqlParameter, SqlRow } from './sql-values.ts';

/** A list of rows with a time of creation and an id. All members are fixed text: nothing comes from a request. */
export type PagedQuery = {
  readonly columns: string;
  readonly from: string;
  /** Conditions with their parameters in `parameters`. */
  readonly where: string;
  readonly idColumn: string;
  readonly parameters: readonly SqlParameter[];
};

/** Reads a page after or before a row, in the requested order. A row that is not in the list gives an empty page. */
export async function readPage(
  database: Database,
  { columns, from, where, idColumn, parameters }: PagedQuery,
  page: ListPage,
): Promise<readonly SqlRow[]> {
  const isDescending = page.order === 'desc';
  const bounds: SqlParameter[] = [];
  let condition = '';
  for (const [cursor, isAfter] of [
    [page.after, true],
    [page.before, false],
  ] as const) {
    if (cursor === undefined) continue;
    const row = await database.first(`select created_at_ms from ${from} where ${where} and ${idColumn} = ?`, ...parameters, cursor);
    if (row === undefined) return [];
    condition += ` and (created_at_ms, ${idColumn}) ${isDescending === isAfter ? '<' : '>'} (?, ?)`;
    bounds.push(row['created_at_ms'] ?? null, cursor);
  }
  // The page before a row begins next to it, so it is read backwards.
  const isBackwards = page.before !== undefined && page.after === undefined;
  const direction = isDescending === isBackwards ? 'asc' : 'desc';
  const order = `order by created_at_ms ${direction}, ${idColumn} ${direction} limit ?`;
  const rows = await database.all(
    `select ${columns} from ${from} where ${where}${condition} ${order}`,
    ...parameters,
    ...bounds,
    page.limit,
  );
  return isBackwards ? rows.toReversed() : rows;
}
