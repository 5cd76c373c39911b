import { existsSync } from 'node:fs';

import { type Environment, StartError } from '../environment.ts';

/** The file that WEIR_CONFIG names, else weir.yaml if it exists. @throws StartError if the named file does not exist */
export function findConfigPath({ configPath }: Pick<Environment, 'configPath'>): string | undefined {
  if (configPath === undefined) return existsSync('weir.yaml') ? 'weir.yaml' : undefined;
  if (!existsSync(configPath)) throw new StartError(`WEIR_CONFIG names ${configPath}, which does not exist`);
  return configPath;
}

/** The environment with the configuration file in use. @throws StartError if the named file does not exist */
export function withConfigPath(environment: Environment): Environment {
  return { ...environment, configPath: findConfigPath(environment) };
}
