import type { Command } from 'commander';

import { decodeLimits } from '../../admin/contract/limits.ts';
import { createUser, listUsers, updateUser } from '../../admin/resources/users/user-operations.ts';
import { type Environment, StartError } from '../environment.ts';
import { showLimits } from './limit-options.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { addSharedLimitOptions, noTeam, readSharedChange, type SharedOptions } from './shared-limits.ts';
import { printTable } from './with-accounts.ts';

type UserOptions = RemoteOption & SharedOptions & { readonly team?: string };
type ListOptions = RemoteOption & { readonly team?: string; readonly json?: boolean };

const teamMeaning = 'the team that the user is in; none for no team';

/**
 * Adds `weir users …`: teams of users, and limits for all keys of a user together. The first key also creates its user.
 */
export function addUserCommands(program: Command, environment: Environment): void {
  const users = program.command('users').description('users, their teams, and the limits for all keys of a user together');
  addRemoteOption(users.command('list'))
    .description('lists users')
    .option('--team <name>', 'only the users of this team')
    .option('--json', 'as JSON')
    .action(async ({ team, json, ...place }: ListOptions) => {
      const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listUsers))).body;
      const listed = team === undefined ? items : items.filter((user) => user.team === team.normalize('NFC'));
      const hasTeams = listed.some((user) => user.team !== null);
      if (json === true) return printItems(listed);
      printTable(
        ['NAME', 'CREATED', ...(hasTeams ? ['TEAM'] : []), 'LIMITS'],
        listed.map((user) => [
          user.name,
          user.created_at,
          ...(hasTeams ? [user.team ?? '-'] : []),
          showLimits(decodeLimits(user.limits, user.prepaid)),
        ]),
      );
    });
  const create = addRemoteOption(users.command('create'))
    .description('creates a user without a key')
    .argument('<name>', "the user's name")
    .option('--team <name>', teamMeaning);
  addSharedLimitOptions(create, 'user').action((name: string, { team: written, ...options }: UserOptions) => {
    const team = written === undefined ? null : teamOf(written);
    const body = { name, ...readSharedChange(options), ...(team !== null && { team }) };
    return withService(environment, options, async (service) => {
      const { body: user } = await wordUnknownTeam(service.call(createUser, { body }), team);
      console.error(`created the user ${user.name}`);
    });
  });
  addUpdateCommand(users, environment);
}

/** `limit` is the name that the command had when it changed only limits. */
function addUpdateCommand(users: Command, environment: Environment): void {
  const update = addRemoteOption(users.command('update'))
    .alias('limit')
    .description("changes a user's team and limits; the value none removes a limit")
    .argument('<name>', "the user's name")
    .option('--team <name>', teamMeaning);
  addSharedLimitOptions(update, 'user').action((name: string, { team: written, ...options }: UserOptions) => {
    const change = readSharedChange(options);
    const isLimited = Object.keys(change).length > 0;
    if (!isLimited && written === undefined)
      throw new StartError('nothing to change: give --team research, a limit such as --rpm 60, or --rpm none');
    const team = written === undefined ? undefined : teamOf(written);
    const input = { params: { name }, body: { ...change, ...(team !== undefined && { team }) } };
    return withService(environment, options, async (service) => {
      const noUser = () => new StartError(`there is no user "${name}"; weir users list shows them, and weir keys create makes them`);
      const { body: user } = await wordUnknownTeam(wordRefusal(service.call(updateUser, input), 'not_found', noUser), team);
      const changed = [
        ...(team === undefined ? [] : [`team ${user.team ?? 'none'}`]),
        ...(isLimited ? [showLimits(decodeLimits(user.limits, user.prepaid)) || 'no limits'] : []),
      ];
      console.error(`updated ${name}: ${changed.join('; ')}`);
    });
  });
}

/** A team that does not exist is the only value that an operation refuses and an option does not. */
async function wordUnknownTeam<Result>(work: Promise<Result>, team: string | null | undefined): Promise<Result> {
  return typeof team === 'string' ? await wordRefusal(work, 'invalid_request', () => noTeam(team)) : await work;
}

function teamOf(text: string): string | null {
  return text === 'none' ? null : text;
}
