import { existsSync } from 'node:fs';

import type { Command } from 'commander';

import { releaseText } from '../../platform/release.ts';
import { planUpgrade, type UpgradePlan } from '../../store/upgrade/plan-upgrade.ts';
import { readPostgresSchema, readSqliteSchema, type SchemaView } from '../../store/upgrade/read-schema.ts';
import { databasePath } from '../assembly/open-data-directory.ts';
import type { Environment } from '../environment.ts';
import { describeFailure } from '../programs/describe-failure.ts';
import { findUrl, type UrlOption, urlText } from './database.ts';

/** The exit codes of `weir upgrade check`. */
const exitCodes = { ready: 0, migrates: 1, trouble: 2, refused: 3 } as const;

/** Rows that a migration goes through in a second, for a database that is too small for a measurement. */
const rowsPerSecondAssumed = 100_000;

/** Adds `weir upgrade …`. */
export function addUpgradeCommands(program: Command, environment: Environment): void {
  program
    .command('upgrade')
    .description('questions before another version of Weir is started')
    .command('check')
    .description(
      'says whether this version can use the database, what it would migrate, how long that takes, and whether one can go back; changes nothing. Exit code 0: ready, 1: it migrates, 2: trouble, 3: it refuses the database',
    )
    .option('--url <url>', urlText)
    .option('--json', 'as JSON')
    .action(async ({ json, ...options }: UrlOption & { readonly json?: boolean }) => {
      try {
        await check(environment, options, json === true);
      } catch (error) {
        console.error(`weir: ${describeFailure(error)}`);
        process.exitCode = exitCodes.trouble;
      }
    });
}

async function check(environment: Environment, options: UrlOption, asJson: boolean): Promise<void> {
  const view = await readSchema(environment, options);
  const plan = planUpgrade(view.applied);
  const seconds = estimateSeconds(plan, view);
  const rows_per_second = view.rowsPerSecond ?? null;
  if (asJson) console.log(JSON.stringify({ ...plan, seconds, rows_per_second }, undefined, 2));
  else for (const line of describe(plan, view, seconds)) console.log(line);
  process.exitCode = plan.state === 'refused' ? exitCodes.refused : plan.state === 'older' ? exitCodes.migrates : exitCodes.ready;
}

async function readSchema(environment: Environment, options: UrlOption): Promise<SchemaView> {
  const url = findUrl(environment, options);
  if (url !== undefined) return await readPostgresSchema(url);
  const path = databasePath(environment.dataDirectory);
  return existsSync(path) ? await readSqliteSchema(path) : { applied: [], rows: new Map(), rowsPerSecond: undefined };
}

const rowsOf = ({ rows }: SchemaView, tables: readonly string[]): number => tables.reduce((sum, table) => sum + (rows.get(table) ?? 0), 0);

function estimateSeconds({ pending }: UpgradePlan, view: SchemaView): number {
  return Math.ceil(pending.reduce((sum, { tables }) => sum + rowsOf(view, tables), 0) / (view.rowsPerSecond ?? rowsPerSecondAssumed));
}

function describe(plan: UpgradePlan, view: SchemaView, seconds: number): readonly string[] {
  const { database, program, unknown, pending, canGoBack } = plan;
  const opening = `this is Weir ${releaseText}, for schema version ${program}; the database has version ${database}`;
  switch (plan.state) {
    case 'empty':
      return [`this is Weir ${releaseText}; there is no database yet, and the first start makes one`];
    case 'current':
      return [opening, 'nothing to migrate'];
    case 'newer':
      return [opening, `it can use the database: ${list(unknown)} only added to it`];
    case 'refused':
      return [
        opening,
        `it cannot use the database, because of a contract among ${list(unknown)}: start the newer version, or restore a backup from before`,
      ];
    case 'older':
      return [
        opening,
        'the first start, or weir migrate, runs:',
        ...pending.map(({ tables, ...each }) => {
          const read = tables.length === 0 ? 'no rows are read' : `${rowsOf(view, tables)} rows of ${tables.join(', ')}`;
          return `  ${list([each])}${each.contract ? ' (contract)' : ''}: ${read}`;
        }),
        `that takes about ${Math.max(1, seconds)} s${view.rowsPerSecond === undefined ? '' : `, at the ${view.rowsPerSecond} rows a second that were read just now`}`,
        canGoBack
          ? 'one can go back: the version in use works on the migrated database'
          : 'one cannot go back without a backup: the version in use refuses the migrated database, or a migration is a contract',
      ];
  }
}

const list = (steps: readonly { readonly version: number; readonly name: string }[]): string =>
  steps.map(({ version, name }) => `${version} ${name}`).join(', ');
