import type { Migration } from '../migrations/migration.ts';
import { latestVersion, migrations } from '../migrations/migrations.ts';
import { type AppliedMigration, firstTolerantVersion, isContract, versionOf } from '../migrations/schema-versions.ts';

/** A migration that this program would run, with the tables whose rows it reads or writes. */
type PendingMigration = {
  readonly version: number;
  readonly name: string;
  readonly contract: boolean;
  readonly tables: readonly string[];
};

/** Whether this program can use a database, and what that changes. */
export type UpgradePlan = {
  readonly database: number;
  readonly program: number;
  /**
   * `current`: nothing to do. `newer`: it has migrations that this program does not know, and may be used. `refused`:
   * one of them is a contract. `older`: `pending` would run. `empty`: it has no tables of ours.
   */
  readonly state: 'current' | 'newer' | 'refused' | 'older' | 'empty';
  /** Of a newer database, the migrations that this program does not know. */
  readonly unknown: readonly AppliedMigration[];
  readonly pending: readonly PendingMigration[];
  /** Whether the programs that use the database now can use it afterwards: they can during the upgrade, and again. */
  readonly canGoBack: boolean;
};

/** Compares a database with this program. @param applied empty for a database without our tables */
export function planUpgrade(applied: readonly AppliedMigration[], known: readonly Migration[] = migrations): UpgradePlan {
  const program = known.at(-1)?.version ?? latestVersion;
  const database = versionOf(applied);
  const unknown = applied.filter(({ version }) => version > program);
  const pending = known.filter(({ version }) => version > database).map(describe);
  const state =
    database === 0
      ? 'empty'
      : unknown.some(isContract)
        ? 'refused'
        : unknown.length > 0
          ? 'newer'
          : pending.length > 0
            ? 'older'
            : 'current';
  const canGoBack = pending.length === 0 || (database >= firstTolerantVersion && !pending.some(({ contract }) => contract));
  return { database, program, state, unknown, pending, canGoBack };
}

function describe(migration: Migration): PendingMigration {
  const { version, name, contract = false, shared, sqlite, postgres } = migration;
  const tables = new Set<string>();
  for (const statement of [...shared, ...sqlite, ...postgres]) for (const table of readTables(statement)) tables.add(table);
  // A table that the migration itself creates has no rows yet.
  for (const statement of shared) tables.delete(/^create table (\w+)/.exec(statement)?.[1] ?? '');
  return { version, name, contract, tables: [...tables] };
}

/** The tables whose rows a statement goes through. A new column is only recorded. */
function readTables(statement: string): readonly string[] {
  const [, indexed] = /^create (?:unique )?index \w+\s+on (\w+)/.exec(statement) ?? [];
  if (indexed !== undefined) return [indexed];
  if (!/^(?:insert|update|delete)\b/.test(statement)) return [];
  return [...statement.matchAll(/\b(?:from|join|update) (\w+)/g)].flatMap(([, table]) => (table === undefined ? [] : [table]));
}
