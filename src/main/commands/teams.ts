import type { Command } from 'commander';

import { decodeLimits } from '../../admin/contract/limits.ts';
import { organizationStatement, teamStatement } from '../../admin/resources/credits/statement-operations.ts';
import { organizationAccount, teamAccount } from '../../admin/resources/credits/transaction-operations.ts';
import {
  createTeam,
  deleteTeam,
  getOrganization,
  listTeams,
  updateOrganization,
  updateTeam,
} from '../../admin/resources/teams/team-operations.ts';
import { updateUser } from '../../admin/resources/users/user-operations.ts';
import type { AdminService } from '../../admin/service/admin-service.ts';
import { type Environment, StartError } from '../environment.ts';
import { addPostingCommands } from './credit-postings.ts';
import { addStatementCommand } from './statement.ts';
import { showLimits } from './limit-options.ts';
import { wordRefusal } from './remote/problems.ts';
import { addRemoteOption, printItems, type RemoteOption, withService } from './remote/with-service.ts';
import { addSharedLimitOptions, noTeam, readSharedChange, type SharedOptions } from './shared-limits.ts';
import { printTable } from './with-accounts.ts';

type ListOptions = RemoteOption & { readonly json?: boolean };
type ChangeOptions = RemoteOption & SharedOptions;
type Limited = { readonly limits: Parameters<typeof decodeLimits>[0]; readonly prepaid: boolean };

const show = ({ limits, prepaid }: Limited): string => showLimits(decodeLimits(limits, prepaid)) || 'no limits';

/** Adds `weir teams …`: users whose keys share limits. */
export function addTeamCommands(program: Command, environment: Environment): void {
  const teams = program.command('teams').description('teams of users, and the limits and the balance that all users of a team share');
  const create = addRemoteOption(teams.command('create')).description('creates a team').argument('<name>', "the team's name");
  addSharedLimitOptions(create, 'team').action((name: string, options: ChangeOptions) => {
    const body = { name, ...readSharedChange(options) };
    return withService(environment, options, async (service) => {
      const { body: team } = await service.call(createTeam, { body });
      console.error(`created the team ${team.name} (${team.id}): ${show(team)}`);
    });
  });
  addListCommand(teams, environment);
  const update = addRemoteOption(teams.command('update'))
    .description("changes a team's limits; the value none removes a limit")
    .argument('<name>', "the team's name");
  addSharedLimitOptions(update, 'team').action((name: string, options: ChangeOptions) => {
    const body = requireChange(readSharedChange(options));
    return withService(environment, options, async (service) => {
      const updated = await wordRefusal(service.call(updateTeam, { params: { name }, body }), 'not_found', () => noTeam(name));
      console.error(`updated the team ${name}: ${show(updated.body)}`);
    });
  });
  addRemoteOption(teams.command('delete'))
    .description('removes a team without users; its usage stays in the books')
    .argument('<name>', "the team's name")
    .action((name: string, place: RemoteOption) =>
      withService(environment, place, async (service) => {
        await wordRefusal(service.call(deleteTeam, { params: { name } }), 'not_found', () => noTeam(name));
        console.error(`deleted the team ${name}`);
      }),
    );
  addMoveCommands(teams, environment);
  addPostingCommands(teams, environment, {
    whose: 'a team',
    argument: 'team',
    account: teamAccount,
    unknown: noTeam,
  });
  addStatementCommand(teams, environment, { whose: 'a team', argument: 'team', statement: teamStatement, unknown: noTeam });
}

function addListCommand(teams: Command, environment: Environment): void {
  addRemoteOption(teams.command('list'))
    .description('lists teams')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: ListOptions) => {
      const { items } = (await withService(environment, { ...place, reads: true }, (service) => service.call(listTeams))).body;
      if (json === true) return printItems(items);
      printTable(
        ['ID', 'NAME', 'CREATED', 'USERS', 'LIMITS'],
        items.map(({ id, name, created_at, users, limits, prepaid }) => [
          id,
          name,
          created_at,
          users.join(','),
          showLimits(decodeLimits(limits, prepaid)),
        ]),
      );
    });
}

function addMoveCommands(teams: Command, environment: Environment): void {
  const move = async (service: AdminService, users: readonly string[], team: string | null): Promise<void> => {
    for (const name of users) {
      const noUser = () => new StartError(`there is no user "${name}"; weir users list shows them`);
      const moved = wordRefusal(service.call(updateUser, { params: { name }, body: { team } }), 'not_found', noUser);
      await (team === null ? moved : wordRefusal(moved, 'invalid_request', () => noTeam(team)));
    }
  };
  addRemoteOption(teams.command('add'))
    .description('puts users into a team; a user is in one team at a time')
    .argument('<team>', "the team's name")
    .argument('<users...>', 'names of users')
    .action((team: string, users: readonly string[], place: RemoteOption) =>
      withService(environment, place, async (service) => {
        await move(service, users, team);
        console.error(`${users.join(', ')} joined the team ${team}`);
      }),
    );
  addRemoteOption(teams.command('remove'))
    .description('takes users out of their team')
    .argument('<users...>', 'names of users')
    .action((users: readonly string[], place: RemoteOption) =>
      withService(environment, place, async (service) => {
        await move(service, users, null);
        console.error(`${users.join(', ')} in no team`);
      }),
    );
}

function requireChange<Change extends object>(change: Change): Change {
  if (Object.keys(change).length > 0) return change;
  throw new StartError('nothing to change: give a limit, such as --rpm 60, or --rpm none');
}

/** Adds `weir organization …`: the limits that all keys of the database share. */
export function addOrganizationCommands(program: Command, environment: Environment): void {
  const organization = program.command('organization').description('the limits and the balance that all keys share');
  addRemoteOption(organization.command('show'))
    .description('shows the limits')
    .option('--json', 'as JSON')
    .action(async ({ json, ...place }: ListOptions) => {
      const { body } = await withService(environment, { ...place, reads: true }, (service) => service.call(getOrganization));
      if (json === true) printItems(body);
      else console.log(show(body));
    });
  const update = addRemoteOption(organization.command('update')).description('changes the limits; the value none removes a limit');
  addSharedLimitOptions(update, 'organization').action((options: ChangeOptions) => {
    const body = requireChange(readSharedChange(options));
    return withService(environment, options, async (service) => {
      console.error(`updated the organization: ${show((await service.call(updateOrganization, { body })).body)}`);
    });
  });
  const unknown = () => new StartError('the organization has no account');
  const whose = 'the organization';
  addPostingCommands(organization, environment, { whose, account: organizationAccount, unknown });
  addStatementCommand(organization, environment, { whose, statement: organizationStatement, unknown });
}
