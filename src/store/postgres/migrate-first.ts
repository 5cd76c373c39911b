import { migrateDatabase } from './migrate-database.ts';
import type { ConnectionPool } from './open-pool.ts';

/** A pool that lends nothing before the schema has been seen to be the right one: once that is so, it costs nothing. */
export function migrateFirst(pool: ConnectionPool): ConnectionPool & { readonly migrate: () => Promise<void> } {
  let isMigrated = false;
  let migrating: Promise<void> | undefined;
  const migrate = async (): Promise<void> => {
    migrating ??= migrateDatabase(pool);
    try {
      await migrating;
      isMigrated = true;
    } finally {
      migrating = undefined;
    }
  };
  return {
    migrate,
    use: async (work) => {
      if (!isMigrated) await migrate();
      return await pool.use(work);
    },
    close: pool.close,
  };
}
