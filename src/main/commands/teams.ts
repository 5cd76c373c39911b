import type { Command } from 'commander';

import type { AccessLimitsChange } from '../../accounts/access-limits.ts';
import type { Accounts } from '../../accounts/create-accounts.ts';
import { parseLimits, type WrittenLimits } from '../../accounts/parse-limits.ts';
import { systemClock } from '../../platform/clock.ts';
import { type Environment, StartError } from '../environment.ts';
import { addPostingCommands } from './credit-postings.ts';
import { addLimitOptions, showLimits, writtenLimits } from './limit-options.ts';
import { printTable, withAccounts } from './with-accounts.ts';

type SharedOptions = WrittenLimits & { readonly prepaid?: boolean };

/** The commands that post to the balance of an owner. */
const payments = { user: 'credits', team: 'teams', organization: 'organization' } as const;

/** Adds the limits that several keys share: those of a key, and whether they are paid from a balance. */
export function addSharedLimitOptions(command: Command, whose: keyof typeof payments): Command {
  command
    .option('--prepaid', `calls are paid from the balance of the ${whose}; see weir ${payments[whose]} top-up`)
    .option('--no-prepaid', 'calls are paid afterwards');
  return addLimitOptions(command);
}

/** The changes that these options ask for; empty without any. */
export function readSharedLimits({ prepaid, ...options }: SharedOptions): AccessLimitsChange {
  const limits = parseLimits(writtenLimits(options), systemClock.nowMs());
  return { ...limits, ...(prepaid === undefined ? {} : { prepaid: prepaid ? true : null }) };
}

/** Adds `weir teams …`: users whose keys share limits. */
export function addTeamCommands(program: Command, environment: Environment): void {
  const teams = program.command('teams').description('teams of users, and the limits and the balance that all users of a team share');
  const create = teams.command('create').description('creates a team').argument('<name>', "the team's name");
  addSharedLimitOptions(create, 'team').action((name: string, options: SharedOptions) => {
    const limits = readSharedLimits(options);
    return withAccounts(environment, async (accounts) => {
      const team = await accounts.createTeam({ name, limits });
      console.error(`created the team ${team.name} (${team.id}): ${showLimits(team.limits) || 'no limits'}`);
    });
  });
  addListCommand(teams, environment);
  const update = teams
    .command('update')
    .description("changes a team's limits; the value none removes a limit")
    .argument('<name>', "the team's name");
  addSharedLimitOptions(update, 'team').action((name: string, options: SharedOptions) => {
    const change = readSharedLimits(options);
    requireChange(change);
    return withAccounts(environment, async (accounts) => {
      if (!(await accounts.changeTeamLimits(name, change))) throw noTeam(name);
      console.error(`updated the team ${name}: ${showLimits((await accounts.findTeam(name))?.limits) || 'no limits'}`);
    });
  });
  teams
    .command('delete')
    .description('removes a team without users; its usage stays in the books')
    .argument('<name>', "the team's name")
    .action((name: string) =>
      withAccounts(environment, async (accounts) => {
        if (!(await accounts.deleteTeam(name))) throw noTeam(name);
        console.error(`deleted the team ${name}`);
      }),
    );
  addMoveCommands(teams, environment);
  addPostingCommands(teams, environment, {
    whose: 'a team',
    argument: 'team',
    find: (name) => async (store) => {
      const team = (await store.listTeams()).find((each) => each.name === name.normalize('NFC'));
      if (team === undefined) throw noTeam(name);
      return { level: 'team', teamId: team.id };
    },
  });
}

function addListCommand(teams: Command, environment: Environment): void {
  teams
    .command('list')
    .description('lists teams')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const listed = await withAccounts(environment, listWithUsers);
      if (json === true) console.log(JSON.stringify(listed, undefined, 2));
      else
        printTable(
          ['ID', 'NAME', 'CREATED', 'USERS', 'LIMITS'],
          listed.map(({ id, name, createdAtMs, users, limits }) => [
            id,
            name,
            new Date(createdAtMs).toISOString(),
            users.join(','),
            showLimits(limits),
          ]),
        );
    });
}

async function listWithUsers(accounts: Accounts) {
  const users = await accounts.listUsers();
  return (await accounts.listTeams()).map((team) => ({
    ...team,
    users: users.filter((user) => user.team === team.name).map(({ name }) => name),
  }));
}

function addMoveCommands(teams: Command, environment: Environment): void {
  teams
    .command('add')
    .description('puts users into a team; a user is in one team at a time')
    .argument('<team>', "the team's name")
    .argument('<users...>', 'names of users')
    .action((team: string, users: readonly string[]) =>
      withAccounts(environment, async (accounts) => {
        for (const user of users) await accounts.setUserTeam(user, team);
        console.error(`${users.join(', ')} joined the team ${team}`);
      }),
    );
  teams
    .command('remove')
    .description('takes users out of their team')
    .argument('<users...>', 'names of users')
    .action((users: readonly string[]) =>
      withAccounts(environment, async (accounts) => {
        for (const user of users) await accounts.setUserTeam(user, undefined);
        console.error(`${users.join(', ')} in no team`);
      }),
    );
}

export function noTeam(name: string): StartError {
  return new StartError(`there is no team "${name}"; weir teams list shows them`);
}

function requireChange(change: AccessLimitsChange): void {
  if (Object.keys(change).length === 0) throw new StartError('nothing to change: give a limit, such as --rpm 60, or --rpm none');
}

/** Adds `weir organization …`: the limits that all keys of the database share. */
export function addOrganizationCommands(program: Command, environment: Environment): void {
  const organization = program.command('organization').description('the limits and the balance that all keys share');
  organization
    .command('show')
    .description('shows the limits')
    .option('--json', 'as JSON')
    .action(async ({ json }: { json?: boolean }) => {
      const read = await withAccounts(environment, (accounts) => accounts.readOrganization());
      console.log(json === true ? JSON.stringify(read, undefined, 2) : showLimits(read.limits) || 'no limits');
    });
  const update = organization.command('update').description('changes the limits; the value none removes a limit');
  addSharedLimitOptions(update, 'organization').action((options: SharedOptions) => {
    const change = readSharedLimits(options);
    requireChange(change);
    return withAccounts(environment, async (accounts) => {
      await accounts.changeOrganizationLimits(change);
      console.error(`updated the organization: ${showLimits((await accounts.readOrganization()).limits) || 'no limits'}`);
    });
  });
  addPostingCommands(organization, environment, { whose: 'the organization', find: () => async () => ({ level: 'organization' }) });
}
