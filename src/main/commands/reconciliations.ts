import type { Command } from 'commander';

import {
  getReconciliation,
  listReconciliations,
  updateReconciliation,
} from '../../admin/resources/reconciliations/reconciliation-operations.ts';
import { type Environment, StartError } from '../environment.ts';
import { readRowsMax, rowsMaxMost } from './read-limit.ts';
import { printComparison } from './reconcile.ts';
import { readComparison } from './reconcile-remotely.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type ListOptions = RemoteOption & { readonly vendor?: string; readonly limit: string; readonly json?: boolean };
type ShowOptions = RemoteOption & { readonly calls?: string; readonly json?: boolean };
type UpdateOptions = RemoteOption & { readonly note?: string; readonly accept?: boolean; readonly reopen?: boolean };

/** Adds `weir reconciliations …`: comparisons that a console made and keeps. */
export function addReconciliationCommands(program: Command, environment: Environment): void {
  const reconciliations = program
    .command('reconciliations')
    .description("comparisons with vendors' exports that a console keeps; weir reconcile makes one");
  addRemoteOption(reconciliations.command('list'))
    .description('lists comparisons, newest first')
    .option('--vendor <vendor>', 'only those with this vendor')
    .option('--limit <rows>', `at most so many, up to ${rowsMaxMost}`, '50')
    .option('--json', 'as JSON')
    .action((options: ListOptions) => list(environment, options));
  addRemoteOption(reconciliations.command('show'))
    .description('shows a comparison as weir reconcile does, with the same exit codes for agreement (0) and difference (1)')
    .argument('<reconciliation>', 'its id')
    .option('--calls <model:day>', 'lists the calls of one model on one day')
    .option('--json', 'as JSON')
    .action((id: string, options: ShowOptions) => show(environment, id, options));
  addRemoteOption(reconciliations.command('update'))
    .description('keeps a note about a comparison, and accepts it as it is')
    .argument('<reconciliation>', 'its id')
    .option('--note <text>', 'a text about it; none removes the note')
    .option('--accept', 'its differences are explained')
    .option('--reopen', 'takes the acceptance back')
    .action((id: string, options: UpdateOptions) => update(environment, id, options));
}

const noReconciliation = (id: string) => () => new StartError(`there is no reconciliation "${id}"; weir reconciliations list shows them`);

async function list(environment: Environment, { vendor, limit, json, ...place }: ListOptions): Promise<void> {
  const rowsMax = readRowsMax(limit);
  const query = vendor === undefined ? {} : { vendor };
  const items = await withService(environment, { ...place, reads: true }, (service) =>
    listAll(service, listReconciliations, query, rowsMax),
  );
  if (json === true) return printItems(items);
  printTable(
    ['ID', 'CREATED', 'VENDOR', 'FROM', 'TO', 'STATE', 'DIFFERING', 'ACCEPTED BY', 'NOTE'],
    items.map(({ id, created_at, vendor: of, from, to, state, differing, accepted, note }) => [
      id,
      created_at,
      of,
      from,
      to,
      state,
      String(differing ?? '-'),
      inert(accepted?.by ?? '-'),
      inert(note ?? '-'),
    ]),
  );
}

async function show(environment: Environment, id: string, { remote, ...options }: ShowOptions): Promise<void> {
  const place = { reads: true, ...(remote !== undefined && { remote }) };
  const showing = withService(environment, place, async (service) => {
    const { body } = await service.call(getReconciliation, { params: { id } });
    if (body.result === null) {
      const why = body.problem === null ? '' : `: ${body.problem.detail}`;
      throw new StartError(`${id} has no result; it is ${body.state}${why}`);
    }
    process.exitCode = await printComparison(readComparison(service, body), Number(body.tolerance), options);
  });
  await wordRefusal(showing, 'not_found', noReconciliation(id));
}

async function update(environment: Environment, id: string, { note, accept, reopen, ...place }: UpdateOptions): Promise<void> {
  if (accept === true && reopen === true) throw new StartError('--accept and --reopen exclude each other');
  const body = {
    ...(note !== undefined && { note: note === 'none' ? null : note }),
    ...(accept === true && { accepted: true }),
    ...(reopen === true && { accepted: false }),
  };
  if (Object.keys(body).length === 0) throw new StartError('nothing to change: give --note, --accept or --reopen');
  const changing = withService(environment, place, (service) => service.call(updateReconciliation, { params: { id }, body }));
  const { accepted, note: kept } = (await wordRefusal(changing, 'not_found', noReconciliation(id))).body;
  console.error(`${id}: ${accepted === null ? 'not accepted' : `accepted by ${inert(accepted.by)}`}, note: ${inert(kept ?? 'none')}`);
}
