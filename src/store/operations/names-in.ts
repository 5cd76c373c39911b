import type { SqlParameter } from './sql-values.ts';

/**
 * The condition that a column is one of some texts, of which there is at least one. The list is padded to a power of
 * two, so that few statements are prepared.
 * @param column fixed text: nothing of it comes from a request
 */
export function namesIn(column: string, names: readonly string[]): { readonly sql: string; readonly parameters: readonly SqlParameter[] } {
  const [first] = names;
  if (first === undefined) throw new RangeError(`The list for ${column} is empty.`);
  const places = 2 ** Math.ceil(Math.log2(names.length));
  const padded = [...names, ...Array.from({ length: places - names.length }, () => first)];
  return { sql: `${column} in (${padded.map(() => '?').join(', ')})`, parameters: padded };
}
