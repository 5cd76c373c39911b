import { type AccessLimitsChange, changeLimits } from '../access-limits.ts';
import type { StoredApiKey, User } from '../api-key.ts';
import type { TeamStore } from '../team-store.ts';
import type { Organization, Team } from '../team.ts';

type Methods = { readonly [Name in keyof TeamStore]: (...parameters: Parameters<TeamStore[Name]>) => Awaited<ReturnType<TeamStore[Name]>> };

/** The part of a fake accounts store for teams and the organization. */
export type FakeTeams = {
  readonly methods: Methods;
  /** A key with the limits of the levels above it. */
  readonly withLevels: (key: StoredApiKey) => StoredApiKey;
};

/**
 * Creates the teams of a fake store.
 * @param users.change changes the user of a name
 * @param users.note called after each change that processes must notice
 */
export function createFakeTeams(users: {
  readonly users: () => readonly User[];
  readonly change: (name: string, changed: (user: User) => User) => void;
  readonly note: () => void;
}): FakeTeams {
  let teams: Team[] = [];
  let organization: Organization = {};
  const hasTeam = (wanted: string): boolean => teams.some(({ name }) => name === wanted);
  const methods: Methods = {
    insertTeam: (team) => {
      if (hasTeam(team.name) || teams.some(({ id }) => id === team.id)) return false;
      teams.push(team);
      return true;
    },
    listTeams: () => [...teams],
    changeTeam: (teamName, { limits = {}, content }) => {
      if (!hasTeam(teamName)) return false;
      teams = changeNamed(teams, teamName, (team) => {
        const { content: before, ...others } = withChangedLimits(team, limits);
        const after = content === undefined ? before : (content ?? undefined);
        return { ...others, ...(after === undefined ? {} : { content: after }) };
      });
      users.note();
      return true;
    },
    deleteTeam: (teamName) => {
      if (!hasTeam(teamName)) return 'missing';
      if (users.users().some(({ team }) => team === teamName)) return 'in-use';
      teams = teams.filter(({ name }) => name !== teamName);
      return 'deleted';
    },
    setUserTeam: (userName, teamName) => {
      if (!users.users().some(({ name }) => name === userName)) return 'no-user';
      if (teamName !== undefined && !hasTeam(teamName)) return 'no-team';
      users.change(userName, ({ team: _before, ...user }) => (teamName === undefined ? user : { ...user, team: teamName }));
      users.note();
      return 'changed';
    },
    readOrganization: () => organization,
    changeOrganizationLimits: (change) => {
      organization = withChangedLimits(organization, change);
      users.note();
    },
  };
  const withLevels = (key: StoredApiKey): StoredApiKey => {
    const user = users.users().find(({ id }) => id === key.userId);
    const { createdAtMs: _createdAtMs, ...team } = teams.find(({ name }) => name === user?.team) ?? { createdAtMs: 0, id: '', name: '' };
    return {
      ...key,
      ...(user?.limits === undefined ? {} : { userLimits: user.limits }),
      ...(team.id === '' ? {} : { team }),
      ...(organization.limits === undefined ? {} : { organizationLimits: organization.limits }),
    };
  };
  return { methods, withLevels };
}

/** A list in which the member of a name is changed. */
export function changeNamed<Named extends { readonly name: string }>(
  list: readonly Named[],
  name: string,
  change: (member: Named) => Named,
): Named[] {
  return list.map((member) => (member.name === name ? change(member) : member));
}

export function withChangedLimits<Owner extends User | StoredApiKey | Team | Organization>(
  { limits: before, ...rest }: Owner,
  change: AccessLimitsChange,
): Owner {
  const limits = changeLimits(before, change);
  return { ...rest, ...(limits === undefined ? {} : { limits }) } as Owner;
}
