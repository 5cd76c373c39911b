import type { ApiKey } from '../api-key.ts';
import { type Permission, permissionsOfRole } from './permissions.ts';
import type { Person } from './person.ts';
import type { UserScope } from './principal.ts';

/** Settings that add to what roles may do. All are off unless the configuration turns them on. */
export type RoleSettings = {
  /** `console.ownersMakeKeys`: owners create, rotate and disable keys of their users. */
  readonly ownersMakeKeys: boolean;
  /** `console.readContent`: operators read what users have stored. Each reading is a row of the audit log. */
  readonly readContent: boolean;
  /** `console.financePublishes`: the role finance publishes prices. */
  readonly financePublishes: boolean;
};

export const roleSettingsDefault: RoleSettings = { ownersMakeKeys: false, readContent: false, financePublishes: false };

/**
 * Permissions for which a person must have signed in a short time ago. An admin token has them only if they were named
 * when it was made.
 */
export const protectedPermissions: ReadonlySet<Permission> = new Set([
  'people:write',
  'tokens:write',
  'prices:publish',
  'credits:write',
  'config:write',
  'content:read',
]);

/**
 * Permissions that lead to everybody: people and tokens can be given what their maker does not have, and the audit log
 * and the configuration name all users. A caller that sees some users only never has them.
 */
const permissionsOverAll: ReadonlySet<Permission> = new Set(['people:write', 'tokens:write', 'audit:read', 'config:read', 'config:write']);

/** The permissions that remain for somebody who sees these users only. */
export function withinUsers(permissions: ReadonlySet<Permission>, users: UserScope): ReadonlySet<Permission> {
  return users === 'all' ? permissions : permissions.difference(permissionsOverAll);
}

/** What a person may do. */
export function permissionsOf({ role }: Pick<Person, 'role'>, settings: RoleSettings): ReadonlySet<Permission> {
  const granted = new Set(permissionsOfRole[role]);
  if (role === 'owner' && settings.ownersMakeKeys) granted.add('keys:write');
  if (role === 'operator' && settings.readContent) granted.add('content:read');
  if (role === 'finance' && settings.financePublishes) granted.add('prices:publish');
  return granted;
}

/**
 * What a session may do that was opened with an API key: what an owner of its user may. A key with limits of its own
 * makes no keys, because it could make one without them.
 */
export function permissionsOfKey({ limits }: Pick<ApiKey, 'limits'>, settings: RoleSettings): ReadonlySet<Permission> {
  return permissionsOf({ role: 'owner' }, { ...settings, ownersMakeKeys: settings.ownersMakeKeys && limits === undefined });
}

/** What a session may do that was opened with a billing token: read what it reads at the monitor. */
export const permissionsOfBillingToken: ReadonlySet<Permission> = new Set(['usage:read', 'calls:read']);

/** The users whose data a person may see: an owner's own, and everybody's for other roles. */
export function usersOf({ role, users }: Pick<Person, 'role' | 'users'>): UserScope {
  return role === 'owner' ? users : 'all';
}

/** The users that are in both scopes. */
export function narrowUsers(first: UserScope, second: UserScope): UserScope {
  if (first === 'all') return second;
  return second === 'all' ? first : first.filter((name) => second.includes(name));
}
