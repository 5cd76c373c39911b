import { existsSync, readFileSync } from 'node:fs';

import { Command, CommanderError } from 'commander';

import { releaseText } from '../platform/release.ts';
import { addCommands } from './commands/add-commands.ts';
import { withConfigPath } from './config/config-path.ts';
import { describeFailure } from './programs/describe-failure.ts';
import { type Environment, readEnvironment } from './environment.ts';

/** Serving modules are loaded only to serve; otherwise a command that lists keys would take four times as long. */
async function serve(
  environment: Environment,
  which: { readonly gateway: boolean; readonly monitor: boolean; readonly simulator: boolean; readonly console: boolean },
): Promise<void> {
  const { runPrograms } = await import('./programs/run-programs.ts');
  await runPrograms(withConfigPath(environment), which);
}

async function serveWithWorkers(environment: Environment, workers: string): Promise<void> {
  const { readWorkerCount, runPrimary } = await import('./programs/workers/run-primary.ts');
  await runPrimary(withConfigPath(environment), readWorkerCount(workers));
}

/** @param name name of the requested command; no other is loaded */
async function createProgram(environment: Environment, name: string | undefined): Promise<Command> {
  const program = new Command('weir')
    .description('A self-hosted model gateway that keeps exact books.')
    .version(releaseText)
    .showHelpAfterError()
    .exitOverride();
  program
    .command('start')
    .description('gateway, monitor and, without any upstream configured, the simulated vendors, in one process')
    .action(() => serve(environment, { gateway: true, monitor: true, simulator: true, console: true }));
  program
    .command('gateway')
    .description('the gateway alone')
    .option('--workers <count>', 'serve with several processes on one port: a number, or auto for one for each processor')
    .action(({ workers }: { readonly workers?: string }) =>
      workers === undefined
        ? serve(environment, { gateway: true, monitor: false, simulator: false, console: false })
        : serveWithWorkers(environment, workers),
    );
  program
    .command('monitor')
    .description('the monitor service alone, reading the same data directory')
    .action(() => serve(environment, { gateway: false, monitor: true, simulator: false, console: false }));
  const adminConsole = program
    .command('console')
    .description('the admin API alone, on the same database')
    .action(() => serve(environment, { gateway: false, monitor: false, simulator: false, console: true }));
  adminConsole
    .command('link')
    .description('prints a link that signs a person in, once, within 15 minutes; also the way back after a forgotten password')
    .option('--person <person>', 'id or name; default: the oldest operator, or a new one if there is no operator')
    .option('--remote [address]', 'runs on the console at this address, with the token of weir login or in WEIR_ADMIN_TOKEN')
    .action(async (options: { readonly person?: string; readonly remote?: string | true }) => {
      const { printConsoleLink } = await import('./commands/console-link.ts');
      await printConsoleLink(withConfigPath(environment), options);
    });
  adminConsole
    .command('approve')
    .description('gives the machine whose weir login shows this code a token, after showing who asks')
    .argument('<code>', 'the code that weir login shows')
    .option('--yes', 'do not ask')
    .option('--deny', 'refuse the machine')
    .action(async (code: string, options: { readonly yes?: true; readonly deny?: true }) => {
      const { approveLogin } = await import('./commands/console-approve.ts');
      await approveLogin(withConfigPath(environment), code, options);
    });
  await addCommands(program, environment, name);
  return program;
}

/** Programs that open their secrets themselves, and commands that need none. */
const withoutSecrets = ['start', 'gateway', 'monitor', 'doctor', 'health', 'import', 'login', 'logout', '--version', '-V', 'help'];

/** Reads the secrets that a command may need: those of the configuration but the keys of upstreams. */
async function withSecrets(environment: Environment, words: readonly string[], opened: AsyncDisposableStack): Promise<Environment> {
  const [name = 'help', next] = words;
  const needsNone =
    withoutSecrets.includes(name) ||
    (name === 'console' && next === undefined) ||
    (name === 'config' && next === 'check') ||
    words.some((word) => word.startsWith('--remote') || word === '--help' || word === '-h');
  const path = environment.configPath ?? 'weir.yaml';
  if (needsNone || !existsSync(path) || !/\$\{[a-z-]+:[^-}]/.test(readFileSync(path, 'utf8'))) return environment;
  const { openSecrets } = await import('./egress/open-secrets.ts');
  return await openSecrets(environment, { needs: 'others', opened });
}

/**
 * Runs a command line. A failure is printed as a message, and `process.exitCode` is set.
 * @param words the words after the name of the program
 */
export async function runCommandLine(words: readonly string[], variables: Readonly<Record<string, string | undefined>>): Promise<void> {
  await using opened = new AsyncDisposableStack();
  try {
    const environment = await withSecrets(readEnvironment(variables), words, opened);
    const program = await createProgram(environment, words[0]);
    await program.parseAsync(words, { from: 'user' });
  } catch (error) {
    if (error instanceof CommanderError) {
      process.exitCode = error.exitCode;
    } else {
      console.error(`weir: ${describeFailure(error)}`);
      process.exitCode = 1;
    }
  }
}
