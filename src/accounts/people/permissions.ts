/** What an operation of the admin API may need. Every operation needs exactly one, or only a session. */
export const permissions = [
  'usage:read',
  'calls:read',
  'credits:read',
  'prices:read',
  'content:read',
  'keys:read',
  'keys:write',
  'playground:use',
  'credits:write',
  'reconcile:run',
  'prices:stage',
  'prices:publish',
  'limits:write',
  'upstreams:read',
  'upstreams:write',
  'config:read',
  'config:write',
  'people:write',
  'tokens:write',
  'audit:read',
] as const;
export type Permission = (typeof permissions)[number];

/** The roles of people. A person has one. */
export const roles = ['viewer', 'owner', 'finance', 'operator'] as const;
export type Role = (typeof roles)[number];

/** What everybody may read who signs in: of all users, or, as an owner, of the person's own. */
const reading = ['usage:read', 'calls:read', 'credits:read', 'prices:read', 'keys:read'] as const satisfies readonly Permission[];

/**
 * The permissions of each role, before settings add or remove some: `console.ownersMakeKeys` gives owners `keys:write`,
 * `console.readContent` gives operators `content:read`, and finance may be granted `prices:publish`.
 */
export const permissionsOfRole: Readonly<Record<Role, readonly Permission[]>> = {
  viewer: [...reading, 'upstreams:read', 'audit:read'],
  owner: [...reading, 'content:read', 'playground:use'],
  finance: [...reading, 'upstreams:read', 'audit:read', 'credits:write', 'reconcile:run', 'prices:stage'],
  operator: permissions.filter((permission) => permission !== 'content:read'),
};

export function isPermission(word: string): word is Permission {
  return (permissions as readonly string[]).includes(word);
}

export function isRole(word: string): word is Role {
  return (roles as readonly string[]).includes(word);
}
