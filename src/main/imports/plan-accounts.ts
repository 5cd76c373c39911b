import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { PlannedKey, PlannedTeam, PlannedUser } from './import-plan.ts';
import { chooseName } from './plan-config.ts';

/** Collects teams, users and keys under names that Weir accepts. */
export type AccountPlan = {
  /** The name of a team, which is added at its first use. */
  readonly addTeam: (wish: string, limits: AccessLimits) => string;
  /** The name of a user, which is added unless there is one of that name in that team. */
  readonly addUser: (wish: string, user: Omit<PlannedUser, 'name'>) => string;
  /** Adds a key under a name that its user does not have yet. */
  readonly addKey: (key: PlannedKey) => string;
  readonly teams: () => readonly PlannedTeam[];
  readonly users: () => readonly PlannedUser[];
  readonly keys: () => readonly PlannedKey[];
};

export function createAccountPlan(): AccountPlan {
  const teams = new Map<string, PlannedTeam>();
  const users = new Map<string, PlannedUser>();
  const keys = new Map<string, PlannedKey>();
  return {
    addTeam: (wish, limits) => {
      const name = chooseName(acceptName(wish, 'team'), (taken) => teams.has(taken));
      teams.set(name, { name, limits });
      return name;
    },
    addUser: (wish, user) => {
      const plain = acceptName(wish, 'user');
      const known = users.get(plain);
      // A user is in one team: the same person's keys of another team belong to a user of their own.
      const name = known === undefined || known.team === user.team ? plain : acceptName(`${plain} ${user.team ?? 'no team'}`, 'user');
      if (!users.has(name)) users.set(name, { name, ...user });
      return name;
    },
    addKey: (key) => {
      const name = chooseName(acceptName(key.name, 'key'), (taken) => keys.has(`${key.user}/${taken}`));
      keys.set(`${key.user}/${name}`, { ...key, name });
      return name;
    },
    teams: () => [...teams.values()],
    users: () => [...users.values()],
    keys: () => [...keys.values()],
  };
}

const charactersMax = 60;

/** The nearest name that Weir accepts: letters, digits, spaces and `. _ - @ +`, with a letter or digit first. */
function acceptName(wish: string, fallback: string): string {
  const letters = wish
    .normalize('NFC')
    .replaceAll(/[^\p{L}\p{M}\p{N} ._@+-]+/gu, '-')
    .replace(/^[^\p{L}\p{N}]+/u, '');
  const name = Array.from(letters).slice(0, charactersMax).join('').trimEnd();
  return name === '' ? fallback : name;
}
