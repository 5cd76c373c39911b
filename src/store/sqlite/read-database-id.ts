import type { Database } from './open-database.ts';
import { readText } from './read-column.ts';

export function readDatabaseId(database: Database): string {
  const row = database.first('select id from database_identity');
  if (row === undefined) throw new Error('The database has no identity.');
  return readText(row, 'id');
}
