import type { ChangeAuthor } from '../../audit/change-author.ts';
import type { Clock } from '../../platform/clock.ts';
import { generateSecret, type RandomBytes } from '../api-key-format.ts';
import { hashSecret } from '../hash-secret.ts';
import { parseName } from '../parse-name.ts';
import type { AdminToken } from './admin-token.ts';
import type { AdminTokenStore } from './admin-token-store.ts';
import { PeopleError } from './people-error.ts';
import type { Expected } from './people-store.ts';
import { isPermission, type Permission, permissions as allPermissions } from './permissions.ts';
import { protectedPermissions, withinUsers } from './permissions-of.ts';
import { maySee, type Principal, type UserScope } from './principal.ts';

/** A token to make. */
type NewAdminToken = {
  readonly name: string;
  /** Default: what its maker may do, without the protected permissions, which must be named. */
  readonly permissions?: readonly string[];
  /** Default: the users that its maker may see. */
  readonly users?: readonly string[];
  /** Default 90 days. */
  readonly lastsMs?: number;
};

/** The secret is returned here once and cannot be read again. */
export type CreatedAdminToken = { readonly token: AdminToken; readonly secret: string };

/** What the maker of a token may do itself. A local command may do everything. */
export type TokenMaker = Pick<Principal, 'permissions' | 'users' | 'personId' | 'makerId'>;

/** A local command: a person with access to the data directory is an operator. */
export const localMaker: TokenMaker = { permissions: new Set(allPermissions), users: 'all' };

/** Manages admin tokens. Methods reject with AccountsError `invalid_name`, PeopleError, or the store's error. */
export type AdminTokens = {
  /** Makes a token that may do a part of what its maker may. */
  readonly create: (token: NewAdminToken, maker: TokenMaker, author: ChangeAuthor) => Promise<CreatedAdminToken>;
  /** All tokens, expired ones included, oldest first. */
  readonly list: () => Promise<readonly AdminToken[]>;
  /**
   * Gives a token a new secret. The old one works until the end of the overlap; the one before it ends now. Undefined
   * if there is no such token.
   */
  readonly rotate: (expected: Expected, overlapMs: number, author: ChangeAuthor) => Promise<CreatedAdminToken | undefined>;
  /** False if there is no such token. */
  readonly remove: (expected: Expected, author: ChangeAuthor) => Promise<boolean>;
};

export type AdminTokenDependencies = {
  readonly store: AdminTokenStore & { readonly pepper: () => Promise<string> };
  readonly clock: Clock;
  readonly random: RandomBytes;
};

const dayMs = 86_400_000;
const lastsMsDefault = 90 * dayMs;
const lastsMsMin = 60_000;
const lastsMsMax = 3653 * dayMs;
/** The last characters of a secret that lists show. */
export const hintLength = 4;

export function createAdminTokens(dependencies: AdminTokenDependencies): AdminTokens {
  const { store, clock, random } = dependencies;
  return {
    create: (token, maker, author) => createAdminToken(dependencies, token, maker, author),
    list: () => store.listAdminTokens(),
    rotate: async (expected, overlapMs, author) => {
      if (!(overlapMs >= 0 && overlapMs <= lastsMsMax))
        throw new PeopleError('invalid_expiry', 'The old secret can work for 0 seconds to ten years more.');
      const { secret } = generateSecret('at-weir', random, expected.id);
      const atMs = clock.nowMs();
      const hash = hashSecret(await store.pepper(), secret);
      const rotation = { ...expected, hash, hint: secret.slice(-hintLength), previousOpensUntilMs: atMs + overlapMs };
      const outcome = await store.rotateAdminToken(rotation, { ...author, atMs });
      if (outcome === 'stale') throw stale();
      const token = outcome === 'unknown' ? undefined : (await store.listAdminTokens()).find(({ id }) => id === expected.id);
      return token === undefined ? undefined : { token, secret };
    },
    remove: async (expected, author) => {
      const outcome = await store.deleteAdminToken(expected, { ...author, atMs: clock.nowMs() });
      if (outcome === 'stale') throw stale();
      return outcome === 'deleted';
    },
  };
}

async function createAdminToken(
  { store, clock, random }: AdminTokenDependencies,
  requested: NewAdminToken,
  maker: TokenMaker,
  author: ChangeAuthor,
): Promise<CreatedAdminToken> {
  const name = parseName('token name', requested.name);
  const users = chooseUsers(requested.users, maker.users);
  const permissions = choosePermissions(requested.permissions, maker, users);
  const { lastsMs = lastsMsDefault } = requested;
  if (!(lastsMs >= lastsMsMin && lastsMs <= lastsMsMax))
    throw new PeopleError('invalid_expiry', 'A token must last at least a minute and at most ten years.');
  const createdAtMs = clock.nowMs();
  const { id, secret } = generateSecret('at-weir', random);
  const makerId = maker.personId ?? maker.makerId;
  const token = {
    id,
    name,
    hint: secret.slice(-hintLength),
    permissions,
    users,
    ...(makerId === undefined ? {} : { makerId }),
    createdAtMs,
    expiresAtMs: createdAtMs + lastsMs,
  };
  const hash = hashSecret(await store.pepper(), secret);
  if (!(await store.insertAdminToken({ ...token, hash }, { ...author, atMs: createdAtMs })))
    throw new PeopleError('duplicate_name', `There is already an admin token named ${name}.`);
  return { token: { ...token, revision: 1 }, secret };
}

/** The permissions of a token for these users: those that are named, or its maker's. @throws PeopleError */
export function choosePermissions(names: readonly string[] | undefined, maker: TokenMaker, users: UserScope): readonly Permission[] {
  const possible = withinUsers(maker.permissions, users);
  if (names === undefined) return allPermissions.filter((each) => possible.has(each) && !protectedPermissions.has(each));
  if (names.length === 0) throw new PeopleError('unknown_permission', 'A token needs at least one permission, such as usage:read.');
  const chosen = new Set<string>(names);
  for (const name of chosen) {
    if (!isPermission(name))
      throw new PeopleError('unknown_permission', `"${name.slice(0, 64)}" is not a permission; these are: ${allPermissions.join(', ')}.`);
    if (!maker.permissions.has(name))
      throw new PeopleError(
        'not_permitted',
        `You cannot give a token the permission ${name}, which you do not have${name === 'content:read' ? ' without console.readContent: true in weir.yaml' : ''}.`,
      );
    if (!possible.has(name))
      throw new PeopleError(
        'not_permitted',
        `The permission ${name} leads to all users: a token for some users cannot have it. Leave it out, or leave the users out.`,
      );
  }
  return allPermissions.filter((each) => chosen.has(each));
}

/** The users of a token: those that are named, or all that its maker sees. @throws PeopleError */
export function chooseUsers(names: readonly string[] | undefined, scope: UserScope): UserScope {
  if (names === undefined) return scope;
  if (names.length === 0) throw new PeopleError('unknown_user', 'Name at least one user, or leave the users out for all that you see.');
  const users = names.map((name) => parseName('user name', name));
  const foreign = users.find((name) => !maySee(scope, name));
  // What one may not see does not exist.
  if (foreign !== undefined) throw new PeopleError('unknown_user', `There is no user "${foreign}".`);
  return [...new Set(users)].toSorted();
}

function stale(): PeopleError {
  return new PeopleError('stale', 'Somebody changed this token meanwhile; read it again.');
}
