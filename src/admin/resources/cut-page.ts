/**
 * The rows of one page, and the cursor of the next page; null at the end.
 * @param rows what the store found: one row more than the page shows, if there are more
 * @param limit rows of a page
 */
export function cutPage<Row>(
  rows: readonly Row[],
  limit: number,
  writeCursor: (last: Row) => string,
): { readonly shown: readonly Row[]; readonly next_cursor: string | null } {
  const shown = rows.slice(0, limit);
  const last = rows.length > limit ? shown.at(-1) : undefined;
  return { shown, next_cursor: last === undefined ? null : writeCursor(last) };
}
