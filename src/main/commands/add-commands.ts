import type { Command } from 'commander';

import { withConfigPath } from '../config/find-config.ts';
import type { Environment } from '../environment.ts';

type AddCommand = (program: Command, environment: Environment) => Promise<void>;

/** What operators call, by its first word. Each is loaded with all that it needs: prices, the books, PostgreSQL. */
const commands: Readonly<Record<string, AddCommand>> = {
  keys: async (...to) => (await import('./keys.ts')).addKeyCommands(...to),
  users: async (...to) => (await import('./users.ts')).addUserCommands(...to),
  tokens: async (...to) => (await import('./tokens.ts')).addTokenCommands(...to),
  usage: async (program, environment) => (await import('./usage.ts')).addUsageCommand(program, () => withConfigPath(environment)),
  reconcile: async (program, environment) =>
    (await import('./reconcile.ts')).addReconcileCommand(program, () => withConfigPath(environment)),
  callbacks: async (...to) => (await import('./callbacks.ts')).addCallbackCommands(...to),
  receipt: async (program, environment) =>
    (await import('./receipt.ts')).addReceiptCommands(program, environment, () => withConfigPath(environment)),
  migrate: async (...to) => (await import('./database.ts')).addMigrateCommand(...to),
  database: async (program) => (await import('./database.ts')).addDatabaseCommands(program),
  prices: async (program, environment) => (await import('./prices.ts')).addPriceCommands(program, () => withConfigPath(environment)),
  credits: async (...to) => (await import('./credits.ts')).addCreditCommands(...to),
  doctor: async (...to) => (await import('./doctor.ts')).addDoctorCommand(...to),
};

/** Those are commands of the program itself. */
const others: readonly (string | undefined)[] = ['start', 'gateway', 'monitor', 'config'];

/**
 * Adds the command that `name` asks for, and all where it is none of them, for the help. A gateway that starts loads none: what all of them need is a tenth
 * of its modules.
 */
export async function addCommands(program: Command, environment: Environment, name: string | undefined): Promise<void> {
  if (others.includes(name)) return;
  const asked = Object.entries(commands).filter(([command]) => command === name);
  for (const [, add] of asked.length > 0 ? asked : Object.entries(commands)) await add(program, environment);
}
