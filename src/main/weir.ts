#!/usr/bin/env node
import { Command, CommanderError } from 'commander';

import { addCallbackCommands } from './commands/callbacks.ts';
import { addCreditCommands } from './commands/credits.ts';
import { addDatabaseCommands } from './commands/database.ts';
import { addDoctorCommand } from './commands/doctor.ts';
import { addKeyCommands } from './commands/keys.ts';
import { addReceiptCommands } from './commands/receipt.ts';
import { addReconcileCommand } from './commands/reconcile.ts';
import { addPriceCommands } from './commands/prices.ts';
import { addTokenCommands } from './commands/tokens.ts';
import { addUsageCommand } from './commands/usage.ts';
import { addUserCommands } from './commands/users.ts';
import { findConfigPath } from './config/find-config.ts';
import { describeFailure } from './describe-failure.ts';
import { type Environment, readEnvironment } from './environment.ts';

/** The configuration file in use: the one that WEIR_CONFIG names, else weir.yaml where there is one. */
function withConfigPath(environment: Environment): Environment {
  return { ...environment, configPath: findConfigPath(environment) };
}

/** What serves is loaded where something is served: a command that lists keys would wait four times as long. */
async function serve(
  environment: Environment,
  which: { readonly gateway: boolean; readonly monitor: boolean; readonly simulator: boolean },
): Promise<void> {
  const { runPrograms } = await import('./run-programs.ts');
  await runPrograms(withConfigPath(environment), which);
}

async function serveWithWorkers(environment: Environment, workers: string): Promise<void> {
  const { readWorkerCount, runPrimary } = await import('./workers/run-primary.ts');
  await runPrimary(withConfigPath(environment), readWorkerCount(workers));
}

function createProgram(environment: Environment): Command {
  const program = new Command('weir')
    .description('A self-hosted model gateway that keeps exact books.')
    .showHelpAfterError()
    .exitOverride();
  program
    .command('start')
    .description('gateway, monitor and, without any upstream configured, the simulated vendors, in one process')
    .action(() => serve(environment, { gateway: true, monitor: true, simulator: true }));
  program
    .command('gateway')
    .description('the gateway alone')
    .option('--workers <count>', 'serve with several processes on one port: a number, or auto for one for each processor')
    .action(({ workers }: { readonly workers?: string }) =>
      workers === undefined
        ? serve(environment, { gateway: true, monitor: false, simulator: false })
        : serveWithWorkers(environment, workers),
    );
  program
    .command('monitor')
    .description('the monitor service alone, reading the same data directory')
    .action(() => serve(environment, { gateway: false, monitor: true, simulator: false }));
  addKeyCommands(program, environment);
  addUserCommands(program, environment);
  addTokenCommands(program, environment);
  addUsageCommand(program, () => withConfigPath(environment));
  addReconcileCommand(program, () => withConfigPath(environment));
  addCallbackCommands(program, environment);
  addReceiptCommands(program, environment, () => withConfigPath(environment));
  addDatabaseCommands(program, environment);
  addPriceCommands(program, () => withConfigPath(environment));
  addCreditCommands(program, environment);
  addDoctorCommand(program, environment);
  program
    .command('config')
    .description('the configuration file')
    .command('check')
    .description('reads the configuration, names every problem with its position, and says where each model goes')
    .action(async () => {
      const { checkConfig } = await import('./commands/check-config.ts');
      checkConfig(withConfigPath(environment));
    });
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
