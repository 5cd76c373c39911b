#!/usr/bin/env node
import { existsSync } from 'node:fs';

import { Command, CommanderError } from 'commander';

import { addCallbackCommands } from './commands/callbacks.ts';
import { checkConfig } from './commands/check-config.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addTokenCommands } from './commands/tokens.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addUserCommands } from './commands/users.ts';
import { describeFailure } from './describe-failure.ts';
import { type Environment, readEnvironment, StartError } from './environment.ts';
import { runPrograms } from './run-programs.ts';
import { readWorkerCount, runPrimary } from './workers/run-primary.ts';

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
    .option('--workers <count>', 'serve with several processes on one port: a number, or auto for one for each processor')
    .action(({ workers }: { readonly workers?: string }) =>
      workers === undefined
        ? runPrograms(withConfigPath(environment), { gateway: true, monitor: false, simulator: false })
        : runPrimary(withConfigPath(environment), readWorkerCount(workers)),
    );
  program
    .command('monitor')
    .description('the monitor service alone, reading the same data directory')
    .action(() => runPrograms(withConfigPath(environment), { gateway: false, monitor: true, simulator: false }));
  addKeyCommands(program, environment);
  addUserCommands(program, environment);
  addTokenCommands(program, environment);
  addUsageCommand(program, () => withConfigPath(environment));
  addCallbackCommands(program, environment);
  addDoctorCommand(program, environment);
  program
    .command('config')
    .description('the configuration file')
    .command('check')
    .description('reads the configuration, names every problem with its position, and says where each model goes')
    .action(() => checkConfig(withConfigPath(environment)));
  return program;
}

try {
  await createProgram(readEnvironment(process.env)).parseAsync();
} catch (error) {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode;
  } else {
    console.error(`weir: ${describeFailure(error)}`);
    process.exitCode = 1;
  }
}
