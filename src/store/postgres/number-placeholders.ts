/**
 * Replaces the placeholders `?` of a statement by `$1`, `$2` and so on. A `?` in a quoted text is not a placeholder.
 */
export function numberPlaceholders(sql: string): string {
  let count = 0;
  return sql.replaceAll(/'[^']*'|"[^"]*"|\?/g, (found) => (found === '?' ? `$${(count += 1)}` : found));
}
