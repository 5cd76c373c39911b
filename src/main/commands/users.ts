import type { Command } from 'commander';

import { parseLimits, type WrittenLimits } from '../../accounts/parse-limits.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { addLimitOptions, showLimits, writtenLimits } from './limit-options.ts';
import { printTable, withAccounts } from './with-accounts.ts';

/** Adds `weir users …`: limits for all keys of a user together. A user is created with the first key. */
export function addUserCommands(program: Command, environment: Environment): void {
  const users = program.command('users').description('users, and the limits for all keys of a user together');
  users
    .command('list')
    .description('lists users')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const listed = await withAccounts(environment, (accounts) => accounts.listUsers());
      if (json === true) console.log(JSON.stringify(listed, undefined, 2));
      else
        printTable(
          ['NAME', 'CREATED', 'LIMITS'],
          listed.map(({ name, createdAtMs, limits }) => [name, new Date(createdAtMs).toISOString(), showLimits(limits)]),
        );
    });
  const limit = users
    .command('limit')
    .description("changes a user's limits; the value none removes a limit")
    .argument('<name>', "the user's name");
  limit
    .option('--prepaid', "calls are paid from the user's balance; see weir credits top-up")
    .option('--no-prepaid', 'calls are paid afterwards');
  addLimitOptions(limit).action((name: string, { prepaid, ...options }: WrittenLimits & { readonly prepaid?: boolean }) => {
    const change = {
      ...parseLimits(writtenLimits(options), systemClock.nowMs()),
      ...(prepaid === undefined ? {} : { prepaid: prepaid ? (true as const) : null }),
    };
    if (Object.keys(change).length === 0) throw new StartError('nothing to change: give a limit, such as --rpm 60, or --rpm none');
    return withAccounts(environment, async (accounts) => {
      if (!(await accounts.changeUserLimits(name, change)))
        throw new StartError(`there is no user "${name}"; weir users list shows them, and weir keys create makes them`);
      const user = (await accounts.listUsers()).find((each) => each.name === name.normalize('NFC'));
      console.error(`updated ${name}: ${showLimits(user?.limits) || 'no limits'}`);
    });
  });
}
