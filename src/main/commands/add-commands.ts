import type { Command } from 'commander';

import { withConfigPath } from '../config/config-path.ts';
import type { Environment } from '../environment.ts';

type AddCommand = (program: Command, environment: Environment) => Promise<void>;

/** The commands of operators, by their first word. Each loads its own modules: prices, the books, PostgreSQL. */
const commands: Readonly<Record<string, AddCommand>> = {
  keys: async (...to) => (await import('./keys.ts')).addKeyCommands(...to),
  users: async (...to) => (await import('./users.ts')).addUserCommands(...to),
  export: async (...to) => (await import('./user-objects.ts')).addExportCommands(...to),
  erase: async (...to) => (await import('./user-objects.ts')).addEraseCommands(...to),
  teams: async (...to) => (await import('./teams.ts')).addTeamCommands(...to),
  organization: async (...to) => (await import('./teams.ts')).addOrganizationCommands(...to),
  alerts: async (...to) => (await import('./alerts.ts')).addAlertCommands(...to),
  audit: async (...to) => (await import('./audit.ts')).addAuditCommands(...to),
  refusals: async (...to) => (await import('./refusals.ts')).addRefusalsCommand(...to),
  calls: async (...to) => (await import('./calls.ts')).addCallsCommands(...to),
  captures: async (...to) => (await import('./captures.ts')).addCaptureCommands(...to),
  nodes: async (...to) => (await import('./nodes.ts')).addNodesCommand(...to),
  upstreams: async (...to) => (await import('./upstreams.ts')).addUpstreamCommands(...to),
  targets: async (...to) => (await import('./targets.ts')).addTargetCommands(...to),
  models: async (...to) => (await import('./models.ts')).addModelCommands(...to),
  operations: async (...to) => (await import('./operations.ts')).addOperationCommands(...to),
  videos: async (...to) => (await import('./videos.ts')).addVideoCommands(...to),
  stored: async (...to) => (await import('./stored.ts')).addStoredCommands(...to),
  content: async (...to) => (await import('./content.ts')).addContentCommands(...to),
  tokens: async (...to) => (await import('./tokens.ts')).addTokenCommands(...to),
  people: async (...to) => (await import('./people.ts')).addPeopleCommands(...to),
  'admin-tokens': async (...to) => (await import('./admin-tokens.ts')).addAdminTokenCommands(...to),
  login: async (...to) => (await import('./login.ts')).addLoginCommands(...to),
  logout: async (...to) => (await import('./login.ts')).addLoginCommands(...to),
  usage: async (program, environment) => (await import('./usage.ts')).addUsageCommand(program, () => withConfigPath(environment)),
  reconcile: async (program, environment) =>
    (await import('./reconcile.ts')).addReconcileCommand(program, () => withConfigPath(environment)),
  reconciliations: async (...to) => (await import('./reconciliations.ts')).addReconciliationCommands(...to),
  callbacks: async (...to) => (await import('./callbacks.ts')).addCallbackCommands(...to),
  receipt: async (program, environment) =>
    (await import('./receipt.ts')).addReceiptCommands(program, environment, () => withConfigPath(environment)),
  migrate: async (...to) => (await import('./database.ts')).addMigrateCommand(...to),
  database: async (...to) => (await import('./database.ts')).addDatabaseCommands(...to),
  upgrade: async (...to) => (await import('./upgrade.ts')).addUpgradeCommands(...to),
  archive: async (...to) => (await import('./archive.ts')).addArchiveCommands(...to),
  backup: async (...to) => (await import('./backup.ts')).addBackupCommand(...to),
  restore: async (...to) => (await import('./backup.ts')).addRestoreCommand(...to),
  prices: async (program, environment) => (await import('./prices.ts')).addPriceCommands(program, () => withConfigPath(environment)),
  credits: async (...to) => (await import('./credits.ts')).addCreditCommands(...to),
  config: async (program, environment) => (await import('./config.ts')).addConfigCommands(program, () => withConfigPath(environment)),
  import: async (...to) => (await import('./import.ts')).addImportCommands(...to),
  health: async (...to) => (await import('./health.ts')).addHealthCommand(...to),
  doctor: async (...to) => (await import('./doctor.ts')).addDoctorCommand(...to),
};

/** Commands and options that the program adds itself. */
const others: readonly (string | undefined)[] = ['start', 'gateway', 'monitor', 'console', '--version', '-V'];

/**
 * Adds the command `name`, or all commands for the help if there is no such command. A gateway that starts loads none,
 * because their modules are a tenth of its own.
 */
export async function addCommands(program: Command, environment: Environment, name: string | undefined): Promise<void> {
  if (others.includes(name)) return;
  const named = Object.entries(commands).filter(([command]) => command === name);
  for (const [command, add] of named.length > 0 ? named : Object.entries(commands))
    if (!program.commands.some((added) => added.name() === command)) await add(program, environment);
}
