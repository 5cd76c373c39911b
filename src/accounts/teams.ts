import type { Change, ChangeAuthor } from '../audit/change-author.ts';
import type { Clock } from '../platform/clock.ts';
import { type AccessLimitsChange, changeLimits } from './access-limits.ts';
import { AccountsError } from './accounts-error.ts';
import { generateId, type RandomBytes } from './api-key-format.ts';
import { parseName } from './parse-name.ts';
import type { TeamEdit, TeamStore } from './team-store.ts';
import type { Organization, Team } from './team.ts';

/** Manages teams and the organization. Methods reject as those of Accounts do. Changes take effect within a second. */
export type Teams = {
  /** Creates a team. Rejects with `duplicate_name` if a team has the name. */
  readonly createTeam: (team: { readonly name: string; readonly limits?: AccessLimitsChange }) => Promise<Team>;
  /** Teams, oldest first. */
  readonly listTeams: () => Promise<readonly Team[]>;
  readonly findTeam: (name: string) => Promise<Team | undefined>;
  /** Changes a team in one step. False if there is no team of that name. */
  readonly changeTeam: (teamName: string, edit: TeamEdit) => Promise<boolean>;
  /**
   * Removes a team; its calls keep its name. False if there is no such team. Rejects with `team_in_use` while users are
   * in it or its balance is not 0.
   */
  readonly deleteTeam: (teamName: string) => Promise<boolean>;
  /**
   * Puts a user into a team, or with undefined into none. Rejects with `unknown_name` if there is no such user or team.
   */
  readonly setUserTeam: (userName: string, teamName: string | undefined) => Promise<void>;
  readonly readOrganization: () => Promise<Organization>;
  /** Changes the limits that all keys share. */
  readonly changeOrganizationLimits: (change: AccessLimitsChange) => Promise<void>;
};

type Dependencies = {
  readonly store: TeamStore;
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** The author of the changes. */
  readonly author: ChangeAuthor;
};

const idLength = 10;

export function createTeams({ store, clock, random, author }: Dependencies): Teams {
  const change = (): Change => ({ ...author, atMs: clock.nowMs() });
  return {
    createTeam: async ({ name: written, limits: requested = {} }) => {
      const name = parseName('team name', written);
      const limits = changeLimits(undefined, requested);
      const now = change();
      const team = { id: generateId(idLength, random), name, createdAtMs: now.atMs, ...(limits === undefined ? {} : { limits }) };
      if (await store.insertTeam(team, now)) return team;
      throw new AccountsError('duplicate_name', `There is already a team named ${name}.`);
    },
    listTeams: () => store.listTeams(),
    findTeam: async (name) => (await store.listTeams()).find((team) => team.name === name.normalize('NFC')),
    changeTeam: (teamName, edit) => store.changeTeam(teamName.normalize('NFC'), edit, change()),
    deleteTeam: async (teamName) => {
      const result = await store.deleteTeam(teamName.normalize('NFC'), change());
      if (result === 'in-use') throw new AccountsError('team_in_use', `The team ${teamName} has users; move them to another team first.`);
      if (result === 'has-balance')
        throw new AccountsError('team_in_use', `The team ${teamName} has a balance; post a correction that makes it 0 first.`);
      return result === 'deleted';
    },
    setUserTeam: async (userName, teamName) => {
      const result = await store.setUserTeam(userName.normalize('NFC'), teamName?.normalize('NFC'), change());
      if (result === 'no-user') throw new AccountsError('unknown_name', `There is no user named ${userName}.`);
      if (result === 'no-team') throw new AccountsError('unknown_name', `There is no team named ${teamName ?? ''}.`);
    },
    readOrganization: () => store.readOrganization(),
    changeOrganizationLimits: (limits) => store.changeOrganizationLimits(limits, change()),
  };
}
