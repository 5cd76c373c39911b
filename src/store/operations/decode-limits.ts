import { type AccessLimits, isAccessLimits } from '../../accounts/access-limits.ts';
import { StoreError } from '../store-error.ts';
import type { SqlRow } from './sql-values.ts';
import { readOptionalText } from './read-column.ts';

/** Limits that cannot be read must not count as no limits: a key would be allowed more than it should. */
export function decodeLimits(row: SqlRow, column: string): AccessLimits | undefined {
  const text = readOptionalText(row, column);
  if (text === undefined) return undefined;
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    // Reported below, like any other invalid value.
  }
  if (!isAccessLimits(value)) throw new StoreError('corrupt', `Column ${column} is not a valid set of limits.`);
  return value;
}
