#!/usr/bin/env node
import { existsSync } from 'node:fs';

import { Command, CommanderError } from 'commander';

import { ConfigError } from './config/read-config.ts';
import { checkConfig } from './commands/check-config.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addTokenCommands } from './commands/tokens.ts';
import { addUserCommands } from './commands/users.ts';
import { type Environment, readEnvironment, StartError } from './environment.ts';
import { runPrograms } from './run-programs.ts';

/** The configuration file in use: the one that WEIR_CONFIG names, else weir.yaml where there is one. */
function withConfigPath(environment: Environment): Environment {
  if (environment.configPath !== undefined) {
    if (!existsSync(environment.configPath)) throw new StartError(`WEIR_CONFIG names ${environment.configPath}, which does not exist`);
    return environment;
  }
  return existsSync('weir.yaml') ? { ...environment, configPath: 'weir.yaml' } : environment;
}

function createProgram(environment: Environment): Command {
  const program = new Command('weir')
    .description('A self-hosted model gateway that keeps exact books.')
    .showHelpAfterError()
    .exitOverride();
  program
    .command('start')
    .description('gateway, monitor and, without any upstream configured, the simulated vendors, in one process')
    .action(() => runPrograms(withConfigPath(environment), { gateway: true, monitor: true, simulator: true }));
  program
    .command('gateway')
    .description('the gateway alone')
    .action(() => runPrograms(withConfigPath(environment), { gateway: true, monitor: false, simulator: false }));
  program
    .command('monitor')
    .description('the monitor service alone, reading the same data directory')
    .action(() => runPrograms(withConfigPath(environment), { gateway: false, monitor: true, simulator: false }));
  addKeyCommands(program, environment);
  addUserCommands(program, environment);
  addTokenCommands(program, environment);
  addDoctorCommand(program, environment);
  program
    .command('config')
    .description('the configuration file')
    .command('check')
    .description('reads the configuration, names every problem with its position, and says where each model goes')
    .action(() => checkConfig(withConfigPath(environment)));
  return program;
}

const toldErrors = new Set(['AccountsError', 'DataDirectoryLockedError', 'StoreError']);

/** Errors that an operator caused and can mend are told in words; anything else is a defect and keeps its stack. */
function describeFailure(error: unknown): string {
  const told = error instanceof StartError || error instanceof ConfigError || (error instanceof Error && toldErrors.has(error.name));
  if (told) return `weir: ${error.message}`;
  return `weir: ${error instanceof Error ? (error.stack ?? error.message) : String(error)}`;
}

try {
  await createProgram(readEnvironment(process.env)).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
  } else {
    console.error(describeFailure(error));
    process.exitCode = 1;
  }
}
