import type { Command } from 'commander';

import { readUpstreamHistory } from '../../admin/resources/upstreams/upstream-history.ts';
import { getUpstream, listUpstreams } from '../../admin/resources/upstreams/upstream-operations.ts';
import { type Environment, StartError } from '../environment.ts';
import { inert } from './usage/terminal-text.ts';
import { addUpstreamCheck } from './doctor.ts';
import { wordRefusal } from './remote/problems.ts';
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
  addRemoteOption(upstreams.command('history'))
    .description('how an upstream did: calls, failures and times of each hour, and the problems that gateways observed')
    .argument('<upstream>', 'its name')
    .option('--hours <hours>', 'the length of the span until now, at most 744', '24')
    .option('--json', 'as JSON')
    .action((name: string, options: HistoryOptions) => printHistory(environment, name, options));
  addRemoteOption(upstreams.command('show'))
    .description('prints the settings of an upstream and where each comes from, as JSON; secrets by their end alone')
    .argument('<upstream>', 'its name')
    .action(async (name: string, place: RemoteOption) => {
      const reading = withService(environment, { ...place, reads: true }, (service) => service.call(getUpstream, { params: { name } }));
      const unknown = () => new StartError(`no running gateway has an upstream "${name}"; weir upstreams list shows them`);
      printItems((await wordRefusal(reading, 'not_found', unknown)).body);
    });
  addUpstreamCheck(upstreams, environment);
}

type HistoryOptions = RemoteOption & { readonly hours: string; readonly json?: boolean };

async function printHistory(environment: Environment, name: string, { hours, json, ...place }: HistoryOptions): Promise<void> {
  const { body } = await withService(environment, { ...place, reads: true }, (service) =>
    service.call(readUpstreamHistory, { params: { name }, query: { hours: Number(hours) } }),
  );
  if (json === true) return printItems(body);
  const orDash = (value: number | null): string => (value === null ? '-' : String(value));
  printTable(
    ['HOUR', 'CALLS', 'FAILED', 'CUT', 'FIRST BYTE P95 MS'],
    body.items.map(({ start, calls, failed, cut, first_byte_p95_ms }) => [
      start,
      String(calls),
      String(failed),
      String(cut),
      orDash(first_byte_p95_ms),
    ]),
  );
  for (const { code, since, until, summary } of body.problems) console.log(`${since} to ${until ?? 'now'}  ${code}  ${inert(summary)}`);
}
