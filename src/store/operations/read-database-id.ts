import type { Database } from './database.ts';
import { readText } from './read-column.ts';

export async function readDatabaseId(database: Database): Promise<string> {
  const row = await database.first('select id from database_identity');
  if (row === undefined) throw new Error('The database has no identity.');
  return readText(row, 'id');
}
