import type { ScopedList } from '../../accounts/scoped-list.ts';
import { toStorableText } from '../storable-text.ts';
import { namesIn } from './names-in.ts';
import type { SqlParameter } from './sql-values.ts';

type Condition = { readonly sql: string; readonly parameters: readonly SqlParameter[] };

/**
 * The conditions and the end of a query for a page of rows with `user_name`, `created_at_ms` and an id, newest first.
 * Undefined if nothing may be seen.
 * @param idColumn fixed text, as everything in `more` but its parameters
 */
export function scopedPage(
  { users, userName, fromMs, toMs, after, limit }: ScopedList,
  idColumn: string,
  more: readonly (Condition | undefined)[],
): { readonly where: string; readonly parameters: readonly SqlParameter[] } | undefined {
  if (users !== 'all' && users.length === 0) return undefined;
  const scope = users === 'all' ? undefined : namesIn('user_name', users.map(toStorableText));
  const conditions = [
    scope,
    when('user_name = ?', userName === undefined ? undefined : toStorableText(userName)),
    when('created_at_ms >= ?', fromMs),
    when('created_at_ms < ?', toMs),
    after === undefined
      ? undefined
      : { sql: `(created_at_ms, ${idColumn}) < (?, ?)`, parameters: [after.createdAtMs, toStorableText(after.id)] },
    ...more,
  ].filter((condition) => condition !== undefined);
  const where = conditions.length === 0 ? '' : `where ${conditions.map(({ sql }) => sql).join(' and ')}`;
  return {
    where: `${where} order by created_at_ms desc, ${idColumn} desc limit ?`,
    parameters: [...conditions.flatMap(({ parameters }) => parameters), limit],
  };
}

/** A condition with one parameter; undefined without its value. */
export function when(sql: string, value: SqlParameter | undefined): Condition | undefined {
  return value === undefined ? undefined : { sql, parameters: [value] };
}
