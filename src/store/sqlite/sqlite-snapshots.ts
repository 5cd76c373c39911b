import type { SnapshotSource } from '../reading/answer-reader.ts';
import { type SqliteWorkerData, openStoreDatabase } from './open-store-database.ts';
import { createSqliteDatabase } from './sqlite-database.ts';

/**
 * Snapshots of a file. Each is a connection of its own in the calling thread, which it blocks while it reads. Throws
 * StoreError.
 */
export function openSqliteSnapshots(data: Omit<SqliteWorkerData, 'readOnly'>): SnapshotSource {
  const open = () => openStoreDatabase({ ...data, readOnly: true });
  // A file that cannot be opened fails here, and not at the first snapshot.
  open().close();
  return {
    open: async () => {
      const connection = open();
      // The first statement that reads takes the snapshot.
      connection.execute('begin');
      return { database: createSqliteDatabase(connection), end: async () => connection.close() };
    },
    close: () => Promise.resolve(),
  };
}
