import type { Command } from 'commander';

import type { WrittenLimits } from '../../accounts/parse-limits.ts';
import { type Environment, StartError } from '../environment.ts';
import { showLimits } from './limit-options.ts';
import { addSharedLimitOptions, noTeam, readSharedLimits } from './teams.ts';
import { printTable, withAccounts } from './with-accounts.ts';

type UserOptions = WrittenLimits & { readonly prepaid?: boolean; readonly team?: string };

const teamMeaning = 'the team that the user is in; none for no team';

/**
 * Adds `weir users …`: teams of users, and limits for all keys of a user together. The first key also creates its user.
 */
export function addUserCommands(program: Command, environment: Environment): void {
  const users = program.command('users').description('users, their teams, and the limits for all keys of a user together');
  users
    .command('list')
    .description('lists users')
    .option('--team <name>', 'only the users of this team')
    .option('--json', 'as JSON')
    .action(async ({ team, json }: { team?: string; json?: boolean }) => {
      const all = await withAccounts(environment, (accounts) => accounts.listUsers());
      const listed = team === undefined ? all : all.filter((user) => user.team === team.normalize('NFC'));
      const hasTeams = listed.some((user) => user.team !== undefined);
      if (json === true) console.log(JSON.stringify(listed, undefined, 2));
      else
        printTable(
          ['NAME', 'CREATED', ...(hasTeams ? ['TEAM'] : []), 'LIMITS'],
          listed.map((user) => [
            user.name,
            new Date(user.createdAtMs).toISOString(),
            ...(hasTeams ? [user.team ?? '-'] : []),
            showLimits(user.limits),
          ]),
        );
    });
  const create = users
    .command('create')
    .description('creates a user without a key')
    .argument('<name>', "the user's name")
    .option('--team <name>', teamMeaning);
  addSharedLimitOptions(create, 'user').action((name: string, options: UserOptions) =>
    withAccounts(environment, async (accounts) => {
      const limits = readSharedLimits(options);
      const team = options.team === undefined ? undefined : teamOf(options.team);
      if (team !== undefined && (await accounts.findTeam(team)) === undefined) throw noTeam(team);
      const user = await accounts.createUser({ name });
      if (Object.keys(limits).length > 0) await accounts.changeUserLimits(user.name, limits);
      if (team !== undefined) await accounts.setUserTeam(user.name, team);
      console.error(`created the user ${user.name}`);
    }),
  );
  addUpdateCommand(users, environment);
}

/** `limit` is the name that the command had when it changed only limits. */
function addUpdateCommand(users: Command, environment: Environment): void {
  const update = users
    .command('update')
    .alias('limit')
    .description("changes a user's team and limits; the value none removes a limit")
    .argument('<name>', "the user's name")
    .option('--team <name>', teamMeaning);
  addSharedLimitOptions(update, 'user').action((name: string, { team, ...options }: UserOptions) => {
    const change = readSharedLimits(options);
    const isLimited = Object.keys(change).length > 0;
    if (!isLimited && team === undefined)
      throw new StartError('nothing to change: give --team research, a limit such as --rpm 60, or --rpm none');
    return withAccounts(environment, async (accounts) => {
      const find = async () => (await accounts.listUsers()).find((each) => each.name === name.normalize('NFC'));
      if ((await find()) === undefined)
        throw new StartError(`there is no user "${name}"; weir users list shows them, and weir keys create makes them`);
      if (team !== undefined) await accounts.setUserTeam(name, teamOf(team));
      if (isLimited) await accounts.changeUserLimits(name, change);
      const user = await find();
      const changed = [
        ...(team === undefined ? [] : [`team ${user?.team ?? 'none'}`]),
        ...(isLimited ? [showLimits(user?.limits) || 'no limits'] : []),
      ];
      console.error(`updated ${name}: ${changed.join('; ')}`);
    });
  });
}

function teamOf(text: string): string | undefined {
  return text === 'none' ? undefined : text;
}
