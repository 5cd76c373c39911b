import type { Command } from 'commander';

import { listUpstreams } from '../../admin/resources/upstreams/upstream-operations.ts';
import type { Environment } from '../environment.ts';
import { addUpstreamCheck } from './doctor.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { printTable } from './with-accounts.ts';

/** Adds `weir upstreams …`: the upstreams of running gateways. */
export function addUpstreamCommands(program: Command, environment: Environment): void {
  const upstreams = program.command('upstreams').description('the upstreams of running gateways');
  addRemoteOption(upstreams.command('list'))
    .description('lists the upstreams, once for each setting of running gateways')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: RemoteOption & { readonly json?: boolean }) => {
      const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listUpstreams))).body;
      if (json === true) return printItems(items);
      printTable(
        ['NAME', 'VENDOR', 'ADDRESS', 'INTERFACES', 'CREDENTIALS', 'GATEWAYS'],
        items.map(({ name, title, address, dialects, credentials, nodes }) => [
          name,
          title,
          address,
          dialects.join(' '),
          String(credentials.length),
          nodes.join(' '),
        ]),
      );
    });
  addUpstreamCheck(upstreams, environment);
}
