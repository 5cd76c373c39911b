import { hash } from 'node:crypto';

import type { Change, ChangeAuthor } from '../../audit/change-author.ts';
import type { AccountsStore } from '../accounts-store.ts';
import { generateId } from '../api-key-format.ts';
import type { RandomBytes } from '../api-key-format.ts';
import type { StoredApiKey } from '../api-key.ts';
import { type Claims, hasClaims, nameFromClaims } from './claim-names.ts';
import type { TokenIssuer } from './token-issuer.ts';
import { refuse, type TokenRefusal } from './token-refusal.ts';

/** The user and the key as which a token calls. */
export type TokenIdentity = {
  readonly userName: string;
  readonly keyName: string;
  /** The team that the user joins if it has none. */
  readonly teamName?: string;
  /** Takes the place of the hash of a secret in the store. No secret has this hash, because hashes have no colon. */
  readonly hash: string;
};

/** Refused if a demanded claim is missing or has another value, or if claims make no name. */
export function identityOf(issuer: TokenIssuer, claims: Claims): TokenIdentity | TokenRefusal {
  const wrong = Object.entries(issuer.claims).find(([name, allowed]) => !hasClaims(claims, { [name]: allowed }));
  if (wrong !== undefined) return refuse(`its claim ${wrong[0]} is missing, or has a value that is not accepted`);
  const userName = nameFromClaims(issuer.user, claims);
  if (userName === undefined) return refuse(`its claims make no name of a user (${issuer.user})`);
  const keyName = nameFromClaims(issuer.key, claims);
  if (keyName === undefined) return refuse(`its claims make no name of a key (${issuer.key})`);
  const teamName = issuer.team === undefined ? undefined : nameFromClaims(issuer.team, claims);
  if (issuer.team !== undefined && teamName === undefined) return refuse(`its claims make no name of a team (${issuer.team})`);
  const digest = hash('sha256', JSON.stringify([issuer.issuer, userName, keyName]), 'hex');
  return { userName, keyName, ...(teamName === undefined ? {} : { teamName }), hash: `${hashPrefixOf(issuer)}${digest}` };
}

/** How the hashes of all keys of an issuer begin. */
export function hashPrefixOf({ name }: Pick<TokenIssuer, 'name'>): string {
  return `jwt:${name}:`;
}

const userIdLength = 16;
const idLength = 10;

type Making = { readonly store: AccountsStore; readonly random: RandomBytes; readonly nowMs: number };

/**
 * Creates the key of an identity, and its user if there is none of that name. Several processes may do so at once.
 * Undefined if the user has another key of that name, which a token must never become.
 */
export async function ensureTokenKey(
  { store, random, nowMs }: Making,
  issuer: Pick<TokenIssuer, 'name'>,
  identity: TokenIdentity,
): Promise<StoredApiKey | undefined> {
  const found = await store.findApiKeyByHash(identity.hash);
  if (found !== undefined) return found;
  const author: ChangeAuthor = { actor: `issuer:${issuer.name}`, via: 'gateway' };
  const change = { ...author, atMs: nowMs };
  const user = await store.ensureUser({ id: generateId(userIdLength, random), name: identity.userName, createdAtMs: nowMs }, change);
  if (identity.teamName !== undefined && user.team === undefined)
    await joinTeam({ store, random, nowMs }, user.name, identity.teamName, change);
  const key: StoredApiKey = {
    id: generateId(idLength, random),
    userId: user.id,
    userName: user.name,
    name: identity.keyName,
    hint: 'jwt',
    issuer: issuer.name,
    createdAtMs: nowMs,
    strictTranslation: false,
    hash: identity.hash,
  };
  await store.insertApiKey(key, change);
  // The stored row has the limits of team and organization too, and another process may have made it.
  return await store.findApiKeyByHash(identity.hash);
}

/** Creates the team if there is none of that name: its limits are set by an operator. */
async function joinTeam({ store, random, nowMs }: Making, userName: string, teamName: string, change: Change): Promise<void> {
  await store.insertTeam({ id: generateId(idLength, random), name: teamName, createdAtMs: nowMs }, change);
  await store.setUserTeam(userName, teamName, change);
}
