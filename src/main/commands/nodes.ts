import type { Command } from 'commander';

import { listNodes } from '../../admin/resources/nodes/node-operations.ts';
import type { Environment } from '../environment.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

/** Adds `weir nodes`: the gateway processes of the database. */
export function addNodesCommand(program: Command, environment: Environment): void {
  addRemoteOption(program.command('nodes'))
    .description('lists the gateway processes of the database, as they last reported')
    .option('--json', 'as JSON, with all figures')
    .action(async ({ json, ...place }: RemoteOption & { readonly json?: boolean }) => {
      const { items } = (await withService(environment, place, (service) => service.call(listNodes))).body;
      if (json === true) return printItems(items);
      printTable(
        ['ID', 'STATE', 'REPORTED', 'PROGRAM', 'VERSION', 'HOST', 'CALLS', 'WAITING', 'UNBOOKED', 'BUSY', 'CONFIG'],
        items.map((node) => [
          node.id,
          node.state,
          node.reported_at,
          node.program,
          node.version,
          inert(node.host),
          String(node.calls_under_way),
          String(node.calls_waiting),
          String(node.journal_pending),
          `${Math.round(node.loop_busy_share * 100)} %`,
          node.config_in_force ? node.config_version : 'not in force',
        ]),
      );
    });
}
