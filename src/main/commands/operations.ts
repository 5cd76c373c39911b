import type { Command } from 'commander';

import { cancelOperation, getOperation, listOperations } from '../../admin/resources/operations/operation-resource.ts';
import { operationStates } from '../../control/operations/long-operation.ts';
import { type Environment, StartError } from '../environment.ts';
import { readRowsMax, rowsMaxMost } from './read-limit.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type ListOptions = RemoteOption & {
  readonly kind?: string;
  readonly state?: readonly string[];
  readonly limit: string;
  readonly json?: boolean;
};

/** Adds `weir operations …`: work that takes longer than a request, such as checks of upstreams. */
export function addOperationCommands(program: Command, environment: Environment): void {
  const operations = program.command('operations').description('long work of gateways and consoles, such as checks of upstreams');
  addRemoteOption(operations.command('list'))
    .description('lists the work of the last 7 days, newest first')
    .option('--kind <kind>', 'only work of this kind: upstreams.check, prices.stage')
    .option('--state <states...>', `only work in these states: ${operationStates.join(', ')}`)
    .option('--limit <rows>', `at most so many, up to ${rowsMaxMost}`, '50')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => list(environment, options));
  addRemoteOption(operations.command('show'))
    .description('prints work with its input, progress and result, as JSON')
    .argument('<operation>', 'its id')
    .action(async (id: string, place: RemoteOption) => {
      const reading = withService(environment, { ...place, reads: true }, (service) => service.call(getOperation, { params: { id } }));
      printItems((await wordRefusal(reading, 'not_found', () => noOperation(id))).body);
    });
  addRemoteOption(operations.command('cancel'))
    .description('asks for the end of work; the finished part stays its result')
    .argument('<operation>', 'its id')
    .action(async (id: string, place: RemoteOption) => {
      const cancelling = withService(environment, place, (service) => service.call(cancelOperation, { params: { id } }));
      await wordRefusal(cancelling, 'not_found', () => noOperation(id));
      console.error(`${id} was asked to end`);
    });
}

const noOperation = (id: string): StartError => new StartError(`there is no operation "${id}"; weir operations list shows them`);

async function list(environment: Environment, { kind, state, limit, json, ...place }: ListOptions): Promise<void> {
  const rowsMax = readRowsMax(limit);
  const states = state?.map((word) => {
    const known = operationStates.find((each) => each === word);
    if (known === undefined) throw new StartError(`--state must be one of ${operationStates.join(', ')}; got "${word.slice(0, 100)}"`);
    return known;
  });
  const query = { ...(kind !== undefined && { kind }), ...(states !== undefined && { state: states }) };
  const rows = await withService(environment, { ...place, reads: true }, (service) => listAll(service, listOperations, query, rowsMax));
  if (json === true) return printItems(rows);
  printTable(
    ['ID', 'KIND', 'STATE', 'BY', 'CREATED', 'ENDED', 'PROBLEM'],
    rows.map(({ id, kind: what, state: is, actor, created_at, ended_at, problem }) => [
      id,
      what,
      is,
      inert(actor),
      created_at,
      ended_at ?? '-',
      inert(problem?.detail ?? '-'),
    ]),
  );
}
