import { readFileSync } from 'node:fs';

import type { Environment } from '../environment.ts';
import { findConfigPath } from './config-path.ts';
import type { Config } from './config-schema.ts';
import type { DatabaseConfig } from './database-schema.ts';
import { readConfig } from './read-config.ts';

/**
 * Names local data of the shared database, so that data of another database is never used instead. The name contains no
 * secret. Undefined if the database is the file of the data directory.
 */
export function nameKept(what: string, environment: Environment): string | undefined {
  const url = readDatabaseConfig(environment)?.url;
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { host, pathname, searchParams } = new URL(url);
  return JSON.stringify([what, host, pathname, searchParams.get('host')]);
}

/**
 * Reads the configuration for a command that needs one setting. Returns undefined if the text does not contain the name
 * of the setting. The file is not parsed then, because variables with the secrets of upstreams may be unset here.
 * @throws ConfigError, StartError
 */
export function readConfigNaming(setting: string, environment: Environment): Config | undefined {
  const file = findConfigPath(environment);
  const text = file === undefined ? '' : readFileSync(file, 'utf8');
  if (file === undefined || !new RegExp(`\\b${setting}\\b`).test(text)) return undefined;
  return readConfig({ ...environment, text, file });
}

/** The database of the configuration; undefined for the file of the data directory. @throws ConfigError, StartError */
export function readDatabaseConfig(environment: Environment): DatabaseConfig | undefined {
  return readConfigNaming('database', environment)?.database;
}
