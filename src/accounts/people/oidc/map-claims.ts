import type { Role } from '../permissions.ts';
import type { ClaimedNames, OidcSettings } from './oidc-settings.ts';

/** The claims of a person by name, as the provider sends them. */
export type Claims = Readonly<Record<string, unknown>>;

/** A person's role, users and teams by the settings. */
export type MappedClaims = {
  readonly role: Role;
  /** Undefined if the settings do not map users. */
  readonly users?: readonly string[];
  /** Undefined if the settings do not map teams. */
  readonly teams?: readonly string[];
};

/** If several values of the claim have roles, the first of these counts. */
const strongestFirst: readonly Role[] = ['operator', 'finance', 'owner', 'viewer'];

/** The role, the users and the teams of a person; undefined without a mapped role. */
export function mapClaims(
  claims: Claims,
  { roles, users, teams }: Pick<OidcSettings, 'roles' | 'users' | 'teams'>,
): MappedClaims | undefined {
  const given = valuesOf(claims, roles.claim).flatMap((value) => (Object.hasOwn(roles.map, value) ? [roles.map[value]] : []));
  const role = strongestFirst.find((each) => given.includes(each));
  if (role === undefined) return undefined;
  return {
    role,
    ...(users !== undefined && { users: namesOf(claims, users) }),
    ...(teams !== undefined && { teams: namesOf(claims, teams) }),
  };
}

function namesOf(claims: Claims, { claim, map }: ClaimedNames): readonly string[] {
  const names = valuesOf(claims, claim).flatMap((value) => {
    if (map === undefined) return [value];
    const name = Object.hasOwn(map, value) ? map[value] : undefined;
    return name === undefined ? [] : [name];
  });
  return [...new Set(names)];
}

/** Whether the claims have a member, at its full name or along its path. */
export function hasClaim(claims: Claims, name: string): boolean {
  return findClaim(claims, name) !== undefined;
}

/** The texts of a claim: one, or a list. Anything else counts as none. */
function valuesOf(claims: Claims, name: string): readonly string[] {
  const value = findClaim(claims, name);
  if (typeof value === 'string') return [value];
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** A claim by its whole name, which may have dots (`https://example.com/roles`), or by a path of names. */
function findClaim(claims: Claims, name: string): unknown {
  if (Object.hasOwn(claims, name)) return claims[name];
  let value: unknown = claims;
  for (const part of name.split('.')) {
    if (!isRecord(value) || !Object.hasOwn(value, part)) return undefined;
    value = value[part];
  }
  return value;
}

function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
