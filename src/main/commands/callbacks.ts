import { commandAuthor } from './name-actor.ts';
import { randomBytes } from 'node:crypto';

import type { Command } from 'commander';

import { systemClock } from '../../platform/clock.ts';
import { createCallbackVault } from '../../tasks/callbacks/callback-vault.ts';
import { type Callbacks, createCallbacks } from '../../tasks/callbacks/create-callbacks.ts';
import { type Environment, StartError } from '../environment.ts';
import { loadStoreKey } from '../assembly/load-store-key.ts';
import { findUserName, printTable, withStore } from './with-accounts.ts';

const listed = 50;

/**
 * Adds `weir callbacks …`: the secrets that sign a user's events, the list of events, and resending. A running gateway
 * sends due events within a second.
 */
export function addCallbackCommands(program: Command, environment: Environment): void {
  const callbacks = program.command('callbacks').description('events that Weir sends to the callback addresses of clients');
  callbacks
    .command('secret')
    .description("prints the secret that signs a user's events; creates one if there is none")
    .argument('<user>', "the user's name")
    .option('--rotate', 'creates a new secret; the old one also signs for 24 hours')
    .action(async (user: string, { rotate }: { rotate?: boolean }) => {
      const secret = await withCallbacks(environment, user, (opened, name) =>
        rotate === true ? opened.rotateSecret(name, commandAuthor()) : opened.findSecret(name),
      );
      console.log(secret);
    });
  callbacks
    .command('list')
    .description(`lists the last ${listed} events of a user`)
    .argument('<user>', "the user's name")
    .option('--json', 'as JSON')
    .action(async (user: string, { json }: { json?: boolean }) => {
      const deliveries = await withCallbacks(environment, user, (opened, userName) => opened.list({ userName, limit: listed }));
      const rows = deliveries.map(({ sealedUrl: _sealed, payload: _payload, ...shown }) => shown);
      if (json === true) console.log(JSON.stringify(rows, undefined, 2));
      else
        printTable(
          ['ID', 'EVENT', 'SUBJECT', 'CREATED', 'STATUS', 'ATTEMPTS', 'LAST'],
          rows.map((row) => [
            row.id,
            row.eventType,
            row.subject,
            new Date(row.createdAtMs).toISOString(),
            row.status,
            String(row.attempts),
            row.lastProblem ?? String(row.lastStatus ?? ''),
          ]),
        );
    });
  callbacks
    .command('send-again')
    .description('sends an event again, starting with its first attempt')
    .argument('<user>', "the user's name")
    .argument('<id>', 'id of the event, see weir callbacks list')
    .action(async (user: string, id: string) => {
      if (!(await withCallbacks(environment, user, (opened, userName) => opened.sendAgain(userName, id, commandAuthor()))))
        throw new StartError(`there is no event "${id}" of ${user}; weir callbacks list shows its events`);
      console.error(`${id} will be sent again`);
    });
}

/** Opens the callbacks of the data directory for one command about a user. */
async function withCallbacks<Result>(
  environment: Environment,
  user: string,
  use: (callbacks: Callbacks, userName: string) => Promise<Result>,
): Promise<Result> {
  return await withStore(environment, async (store) => {
    const userName = await findUserName(store, user);
    const vault = createCallbackVault({ store, key: loadStoreKey(environment), randomBytes, clock: systemClock });
    // This command sends nothing, so the check of addresses is never called.
    return await use(createCallbacks({ store, vault, clock: systemClock, allowPrivate: () => false }), userName);
  });
}
