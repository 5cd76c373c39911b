import { StartError } from '../environment.ts';

/** The most rows that a command lists. */
export const rowsMaxMost = 1000;

/** The number of an option `--limit`. @throws StartError unless it is a whole number from 1 to 1,000 */
export function readRowsMax(text: string): number {
  const rows = Number(text);
  if (!/^\d{1,4}$/.test(text) || rows < 1 || rows > rowsMaxMost)
    throw new StartError(`--limit must be a whole number from 1 to ${rowsMaxMost}; got "${text.slice(0, 100)}"`);
  return rows;
}
