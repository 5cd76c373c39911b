import { openDatabase } from './open-database.ts';
import type { SqlRow } from '../operations/sql-values.ts';

/** How long a statement waits while another program writes the file. */
const busyTimeoutMs = 5000;

/**
 * All rows of some tables of another program's SQLite database, which is opened for reading only. A table that does not
 * exist has no rows.
 * @throws StoreError if the file cannot be read, or is not a database
 */
export function readTablesOfFile(path: string, tables: readonly string[]): ReadonlyMap<string, readonly SqlRow[]> {
  const connection = openDatabase(path, { readOnly: true, busyTimeoutMs });
  try {
    const names = new Set(connection.all("select name from sqlite_master where type = 'table'").map(({ name }) => name));
    return new Map(
      tables.map((table) => [table, names.has(table) ? connection.all(`select * from "${table.replaceAll('"', '""')}"`) : []] as const),
    );
  } finally {
    connection.close();
  }
}
