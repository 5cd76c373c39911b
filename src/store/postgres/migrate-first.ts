import { migrateDatabase } from './migrate-database.ts';
import type { ConnectionPool } from './open-pool.ts';

/** A pool that lends no connection before the schema was checked and migrated. Afterwards it costs nothing. */
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
