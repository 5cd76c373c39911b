import type { Command } from 'commander';

import { listCallbacks, readSecret, redeliver, rotateSecret } from '../../admin/resources/callbacks/callback-operations.ts';
import { listUsers } from '../../admin/resources/users/user-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { type Environment, StartError } from '../environment.ts';
import { readRowsMax, rowsMaxMost } from './read-limit.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, listAll, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { inert } from './usage/terminal-text.ts';
import { printTable } from './with-accounts.ts';

type ListOptions = RemoteOption & { readonly limit: string; readonly json?: boolean };

/**
 * Adds `weir callbacks …`: the secrets that sign a user's events, the list of events, and resending. A running gateway
 * sends due events within a second.
 */
export function addCallbackCommands(program: Command, environment: Environment): void {
  const callbacks = program.command('callbacks').description('events that Weir sends to the callback addresses of clients');
  addRemoteOption(callbacks.command('secret'))
    .description("prints the secret that signs a user's events; creates one if there is none")
    .argument('<user>', "the user's name")
    .option('--rotate', 'creates a new secret; the old one also signs for 24 hours')
    .action(async (name: string, { rotate, ...place }: RemoteOption & { readonly rotate?: boolean }) => {
      const answer = withService(environment, place, (service) =>
        service.call(rotate === true ? rotateSecret : readSecret, { params: { name } }),
      );
      console.log((await wordRefusal(answer, 'not_found', () => noUser(name))).body.secret);
    });
  addRemoteOption(callbacks.command('list'))
    .description('lists the last events of a user')
    .argument('<user>', "the user's name")
    .option('--limit <rows>', `at most so many, up to ${rowsMaxMost}`, '50')
    .option('--json', 'as JSON')
    .action((user: string, options: ListOptions) => list(environment, user, options));
  addRemoteOption(callbacks.command('send-again'))
    .description('sends an event again, starting with its first attempt')
    .argument('<user>', "the user's name")
    .argument('<id>', 'id of the event, see weir callbacks list')
    .action((user: string, id: string, place: RemoteOption) =>
      withService(environment, place, async (service) => {
        const name = await findUser(service, user);
        const unknown = () => new StartError(`there is no event "${id}" of ${user}; weir callbacks list shows its events`);
        if ((await service.call(listCallbacks, { query: { user: name, id } })).body.items.length === 0) throw unknown();
        await wordRefusal(service.call(redeliver, { params: { id } }), 'not_found', unknown);
        console.error(`${id} will be sent again`);
      }),
    );
}

async function list(environment: Environment, user: string, { limit, json, ...place }: ListOptions): Promise<void> {
  const rowsMax = readRowsMax(limit);
  const rows = await withService(environment, { ...place, reads: true }, async (service) =>
    listAll(service, listCallbacks, { user: await findUser(service, user) }, rowsMax),
  );
  if (json === true) return printItems(rows);
  printTable(
    ['ID', 'EVENT', 'SUBJECT', 'CREATED', 'STATUS', 'ATTEMPTS', 'LAST'],
    rows.map((row) => [
      row.id,
      row.event,
      row.subject,
      row.created_at,
      row.state.replace('_', '-'),
      String(row.attempts),
      inert(row.last_problem ?? String(row.last_status ?? '')),
    ]),
  );
}

const noUser = (name: string): StartError =>
  new StartError(`there is no user "${name}"; weir users list shows them, and weir keys create makes them`);

/** The name of a user as it is stored. @throws StartError if there is no such user */
async function findUser(service: AdminService, name: string): Promise<string> {
  const userName = name.normalize('NFC');
  if (!(await service.call(listUsers)).body.items.some((user) => user.name === userName)) throw noUser(name);
  return userName;
}
