import { existsSync, readFileSync } from 'node:fs';

import { type Environment, StartError } from '../environment.ts';
import type { Config } from './config-schema.ts';
import type { DatabaseConfig } from './database-schema.ts';
import { readConfig } from './read-config.ts';

/** The configuration file in use: the one that WEIR_CONFIG names, else weir.yaml where there is one. Throws StartError for a name without a file. */
function findConfigPath({ configPath }: Pick<Environment, 'configPath'>): string | undefined {
  if (configPath === undefined) return existsSync('weir.yaml') ? 'weir.yaml' : undefined;
  if (!existsSync(configPath)) throw new StartError(`WEIR_CONFIG names ${configPath}, which does not exist`);
  return configPath;
}

/** Names what is kept of the shared database of the configuration, so that it is never taken for that of another; undefined for the file of the data directory. It holds no secret. */
export function nameKept(what: string, environment: Environment): string | undefined {
  const url = readDatabaseConfig(environment)?.url;
  if (url === undefined || !URL.canParse(url)) return undefined;
  const { host, pathname, searchParams } = new URL(url);
  return JSON.stringify([what, host, pathname, searchParams.get('host')]);
}

/** The environment with the configuration file in use. Throws StartError for a name without a file. */
export function withConfigPath(environment: Environment): Environment {
  return { ...environment, configPath: findConfigPath(environment) };
}

/**
 * The configuration, for a command that wants one setting of it. Undefined where its text does not hold the name of that setting: then it is not looked at further, because the secrets of
 * upstreams may not be known here.
 * @throws ConfigError, StartError
 */
export function readConfigNaming(setting: string, environment: Environment): Config | undefined {
  const file = findConfigPath(environment);
  const text = file === undefined ? '' : readFileSync(file, 'utf8');
  if (file === undefined || !new RegExp(`\\b${setting}\\b`).test(text)) return undefined;
  return readConfig({ text, file, variable: environment.variable });
}

/** Which database the configuration names; undefined for the file of the data directory. Throws ConfigError, StartError. */
export function readDatabaseConfig(environment: Environment): DatabaseConfig | undefined {
  return readConfigNaming('database', environment)?.database;
}
