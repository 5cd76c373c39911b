import type { Command } from 'commander';

import { parseInstant } from '../../accounts/parse-limits.ts';
import { listTargets, putBack, takeOut } from '../../admin/resources/targets/target-operations.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type ListOptions = RemoteOption & { readonly upstream?: string; readonly out?: boolean; readonly json?: boolean };
type OutOptions = RemoteOption & { readonly until: string; readonly reason: string };

const targetText = '<credential>/<model>, such as openai/gpt-5-mini; the model * means all';

/** Adds `weir targets …`: the health of targets, and the orders of operators to send them no calls. */
export function addTargetCommands(program: Command, environment: Environment): void {
  const targets = program.command('targets').description('models at upstreams: their health, and orders to send them no calls');
  addRemoteOption(targets.command('list'))
    .description('lists the targets that gateways have used, and those with an order')
    .option('--upstream <name>', 'only those of this upstream')
    .option('--out', 'only those that are taken out of use')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => list(environment, options));
  addRemoteOption(targets.command('out'))
    .description('sends a target no calls until a time; every gateway follows within two seconds')
    .argument('<target>', targetText)
    .requiredOption('--until <when>', 'when it is used again: an instant, or a time from now (30m, 12h); at most 30 days')
    .requiredOption('--reason <text>', 'why; refused clients, other operators and the audit log see it')
    .action((id: string, options: OutOptions) => order(environment, id, options));
  addRemoteOption(targets.command('clear'))
    .description('puts a target back into use')
    .argument('<target>', targetText)
    .action(async (id: string, place: RemoteOption) => {
      const unknown = () => new StartError(`"${id}" is not out of use; weir targets list --out shows those that are`);
      await withService(environment, place, (service) => wordRefusal(service.call(putBack, { params: { id } }), 'not_found', unknown));
      console.error(`${inert(id)} is in use again`);
    });
}

async function list(environment: Environment, { upstream, out, json, ...place }: ListOptions): Promise<void> {
  const query = { ...(upstream !== undefined && { upstream }), ...(out === true && { state: 'out' as const }) };
  const { items } = (await withService(environment, place, (service) => service.call(listTargets, { query }))).body;
  if (json === true) return printItems(items);
  printTable(
    ['TARGET', 'STATE', 'CALLS', 'FAILURES', 'OUT UNTIL', 'BY', 'REASON'],
    items.map(({ id, state, override, nodes }) => {
      const live = nodes.filter(({ is_silent }) => !is_silent);
      return [
        inert(id),
        state ?? 'unknown',
        String(live.reduce((sum, { calls_under_way }) => sum + calls_under_way, 0)),
        String(Math.max(0, ...live.map(({ consecutive_failures }) => consecutive_failures))),
        override?.until ?? '-',
        inert(override?.actor ?? '-'),
        inert(override?.reason ?? '-'),
      ];
    }),
  );
}

async function order(environment: Environment, id: string, { until: text, reason, ...place }: OutOptions): Promise<void> {
  const until = new Date(parseInstant('--until', text, { nowMs: systemClock.nowMs() })).toISOString();
  const body = { state: 'out' as const, until, reason };
  const unknown = () => new StartError(`no running gateway has an upstream for "${id}"; it is ${targetText}`);
  const { body: made } = await withService(environment, place, (service) =>
    wordRefusal(service.call(takeOut, { params: { id }, body }), 'not_found', unknown),
  );
  console.error(`${inert(made.target)} gets no calls until ${made.until}`);
}
