import { oneConnection } from './migrate-postgres.ts';
import { openPool } from './open-pool.ts';
import { describeRoles, type RoleNames, type RoleOptions } from './roles.ts';

/**
 * Runs the statements of {@link describeRoles} as the owner of the tables: all of them count or none. Rejects with
 * StoreError, for example if a role is missing and the owner may not create roles; RangeError for a wrong name.
 */
export async function applyRoles(url: string, names: RoleNames, options: RoleOptions): Promise<void> {
  const statements = describeRoles(names, options);
  const pool = openPool({ url, ...oneConnection });
  try {
    await pool.use(({ execute }) => execute(`begin;\n${statements}\ncommit;`));
  } finally {
    await pool.close();
  }
}
