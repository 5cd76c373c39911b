/** The statement with `$1`, `$2` … for its placeholders `?`. Those in texts in quotes are no placeholders. */
export function numberPlaceholders(sql: string): string {
  let count = 0;
  return sql.replaceAll(/'[^']*'|"[^"]*"|\?/g, (found) => (found === '?' ? `$${(count += 1)}` : found));
}
