import { StoreError } from '../store-error.ts';
import type { Migration } from './migration.ts';
import { latestVersion } from './migrations.ts';

/**
 * The first version whose programs use a database of a newer version, if none of the migrations that they do not know
 * is a contract. Programs before it refuse every newer database.
 */
export const firstTolerantVersion = 43;

/** A migration as `schema_migrations` has it. */
export type AppliedMigration = { readonly version: number; readonly name: string };

const contractMark = 'contract:';

/** The name under which a migration is recorded. Older programs see by it that they must not go on. */
export function recordedName({ name, contract }: Pick<Migration, 'name' | 'contract'>): string {
  return contract === true ? `${contractMark}${name}` : name;
}

/** Whether programs that do not know a migration must not use the database. */
export const isContract = ({ name }: Pick<AppliedMigration, 'name'>): boolean => name.startsWith(contractMark);

/** The newest version; 0 for a database without our tables. */
export const versionOf = (applied: readonly AppliedMigration[]): number => Math.max(0, ...applied.map(({ version }) => version));

/**
 * Refuses a database that this program must not use: of the migrations that it does not know, one is a contract.
 * @param name how a message names the database
 * @throws StoreError `too-new`
 */
export function checkVersion(applied: readonly AppliedMigration[], name: string): void {
  const contracts = applied.filter((each) => each.version > latestVersion && isContract(each));
  if (contracts.length === 0) return;
  const steps = contracts.map(({ version, name: step }) => `${version}: ${step.slice(contractMark.length)}`).join(', ');
  throw new StoreError(
    'too-new',
    `${name} has schema version ${versionOf(applied)}, and this program knows versions up to ${latestVersion}. ` +
      `A newer Weir has removed what this program needs (${steps}): start that version, or restore a backup from before.`,
  );
}
