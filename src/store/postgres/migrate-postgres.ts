import { latestVersion } from '../migrations/migrations.ts';
import { migrateDatabase } from './migrate-database.ts';
import { openPool } from './open-pool.ts';

/**
 * Brings the schema of a database up to date with the role of its owner, without opening a store, and resolves with its
 * version. Rejects with StoreError.
 */
export async function migratePostgres(url: string): Promise<number> {
  const pool = openPool({ url, ...oneConnection });
  try {
    await migrateDatabase(pool);
    return latestVersion;
  } finally {
    await pool.close();
  }
}

/** Options for commands of an operator, which may take long. */
export const oneConnection = {
  poolMax: 1,
  connectTimeoutMs: 10_000,
  statementTimeoutMs: 3_600_000,
  lockTimeoutMs: 30_000,
  readOnly: false,
  mayBeAway: false,
  applicationName: 'weir migrate',
} as const;
