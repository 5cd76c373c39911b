import type { Snapshot, SnapshotSource } from '../reading/answer-reader.ts';
import type { PostgresOptions } from './connection-options.ts';
import { migrateFirst } from './migrate-first.ts';
import { openPool } from './open-pool.ts';
import { createTransaction } from './postgres-database.ts';

/** Snapshots of a server's database. Each is a transaction on a connection of its own. */
export function openPostgresSnapshots(options: PostgresOptions): SnapshotSource {
  const pool = migrateFirst(openPool(options));
  return {
    open: () =>
      new Promise<Snapshot>((resolve, reject) => {
        const ended = Promise.withResolvers<void>();
        const lent = pool.use(async (session) => {
          await session.execute('begin isolation level repeatable read read only');
          resolve({ database: createTransaction(session), end: () => (ended.resolve(), lent) });
          await ended.promise;
          // After a statement that failed, this is a rollback.
          await session.execute('commit');
        });
        lent.catch(reject);
      }),
    close: pool.close,
  };
}
