import { readFileSync } from 'node:fs';

import { readTablesOfFile } from '../../store/sqlite/read-tables-of-file.ts';
import { ConfigError } from '../config/config-error.ts';
import { readConfig } from '../config/read-config.ts';
import { ImportError, type ImportPlan } from './import-plan.ts';
import { readLiteLlmAccounts } from './litellm/read-accounts.ts';
import { readLiteLlmConfig } from './litellm/read-config.ts';
import type { OneApiKind } from './one-api/channel-types.ts';
import { type OneApiTables, parseTables, readOneApi } from './one-api/read-tables.ts';
import { type AccountPlan, createAccountPlan } from './plan-accounts.ts';
import { type ConfigPlan, createConfigPlan } from './plan-config.ts';
import { readOpenRouter } from './read-openrouter.ts';
import { readPortkey } from './read-portkey.ts';
import { tidyTargets } from './tidy-targets.ts';
import { writeConfig } from './write-config.ts';

type Plans = { readonly config: ConfigPlan; readonly accounts: AccountPlan };

/**
 * What a LiteLLM proxy has.
 * @param accountsFile rows of its tables as JSON; without it, only the configuration is read
 * @throws ImportError, as the others of this file
 */
export const planLiteLlm = (configFile: string, accountsFile: string | undefined): ImportPlan =>
  plan(({ config, accounts }) => {
    const { totalMs } = readLiteLlmConfig(readText(configFile), config);
    if (accountsFile !== undefined) readLiteLlmAccounts(readText(accountsFile), accounts, config);
    return totalMs === undefined ? {} : { timeouts: { totalMs } };
  });

/** What a new-api or one-api has. @param file its SQLite database, or its tables as JSON */
export const planOneApi = (kind: OneApiKind, file: string): ImportPlan =>
  plan(({ config, accounts }) => {
    readOneApi(kind, readTables(file), config, accounts);
    return {};
  });

export const planPortkey = (file: string, model: string): ImportPlan =>
  plan(({ config }) => {
    readPortkey(readText(file), model, config);
    return {};
  });

export const planOpenRouter = (file: string, model: string): ImportPlan =>
  plan(({ config }) => {
    readOpenRouter(readText(file), model, config);
    return {};
  });

function plan(read: (plans: Plans) => Pick<ImportPlan['config'], 'timeouts'>): ImportPlan {
  const [config, accounts] = [createConfigPlan(), createAccountPlan()];
  const settings = read({ config, accounts });
  for (const name of config.modelNames().filter((model) => config.targetsOf(model).length === 0)) config.dropModel(name);
  tidyTargets(config);
  const written = { ...config.config(), ...settings };
  return {
    config: written,
    teams: accounts.teams(),
    users: accounts.users(),
    keys: accounts.keys(),
    notes: config.notes(),
    variables: checkConfig(written),
  };
}

/** Values for variables in members that take no other text than of their own form. */
const standIns: Readonly<Record<string, string>> = {
  baseUrl: 'https://example.invalid',
  apiVersion: 'preview',
  roleArn: 'arn:aws:iam::000000000000:role/example',
};

/** What variables could be so that the configuration is checked without them, by the member that refers to each. */
function standInsOf(value: unknown, member: string, found: Map<string, string>): Map<string, string> {
  if (typeof value === 'string') {
    const standIn = standIns[member];
    for (const [, name = ''] of value.matchAll(/\$\{([A-Za-z_][A-Za-z0-9_]*)/g)) if (standIn !== undefined) found.set(name, standIn);
  } else if (typeof value === 'object' && value !== null) {
    for (const [name, inner] of Object.entries(value)) standInsOf(inner, name, found);
  }
  return found;
}

/** Whether Weir accepts the configuration, and the variables that it refers to. @throws ImportError if it does not */
function checkConfig(config: ImportPlan['config']): readonly string[] {
  const variables = new Set<string>();
  const known = standInsOf(config, '', new Map());
  const variable = (name: string): string => {
    variables.add(name);
    return known.get(name) ?? 'example-of-a-value';
  };
  try {
    readConfig({ text: writeConfig(config), file: 'weir.yaml', variable });
  } catch (error) {
    if (error instanceof ConfigError) throw new ImportError(`what the file contains makes no valid weir.yaml: ${error.message}`);
    throw error;
  }
  return [...variables].toSorted();
}

function readText(file: string): string {
  try {
    return readFileSync(file, 'utf8');
  } catch (error) {
    throw new ImportError(`${file} cannot be read: ${error instanceof Error ? error.message : String(error)}`);
  }
}

const sqliteHeader = 'SQLite format 3\0';

function readTables(file: string): OneApiTables {
  const text = readText(file);
  if (!text.startsWith(sqliteHeader)) return parseTables(text);
  const tables = readTablesOfFile(file, ['channels', 'tokens', 'users', 'options']);
  const rows = (table: string) => tables.get(table) ?? [];
  if (rows('channels').length === 0) throw new ImportError(`${file} has no channels: is it the database of new-api or one-api?`);
  return { channels: rows('channels'), tokens: rows('tokens'), users: rows('users'), options: rows('options') };
}
