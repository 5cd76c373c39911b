import type { SqlParameter } from './sql-values.ts';

/**
 * The condition that one of some columns has a text as a part, in whatever case. SQLite compares only letters of ASCII
 * without their case.
 * @param columns fixed text: nothing of them comes from a request
 */
export function containsText(
  columns: readonly string[],
  text: string,
): { readonly sql: string; readonly parameters: readonly SqlParameter[] } {
  const pattern = `%${text.toLowerCase().replaceAll(/[\\%_]/g, '\\$&')}%`;
  return {
    sql: `(${columns.map((column) => `lower(${column}) like ? escape '\\'`).join(' or ')})`,
    parameters: columns.map(() => pattern),
  };
}
