import type { AuditStore } from '../../../audit/audit-entry.ts';
import type { ChangeAuthor } from '../../../audit/change-author.ts';
import { compileAddressList } from '../../../platform/http/address-list.ts';
import type { Clock } from '../../../platform/clock.ts';
import type { AccountsStore } from '../../accounts-store.ts';
import type { ApiKey, StoredApiKey } from '../../api-key.ts';
import type { RandomBytes } from '../../api-key-format.ts';
import { hashSecret } from '../../hash-secret.ts';
import { secretCharactersMax } from '../../secret-limits.ts';
import { permissionsOfBillingToken, permissionsOfKey, type RoleSettings } from '../permissions-of.ts';
import type { Principal } from '../principal.ts';
import { createRefusedSignIns } from '../refused-sign-ins.ts';
import { generateToken, isToken, type Origin } from '../sessions.ts';
import type { SignInLimits } from '../sign-in-limits.ts';
import type { SignInRefusal } from '../sign-ins.ts';
import type { KeySessionStore } from './key-session-store.ts';
import type { KeySession, KeySignInWay } from './key-session.ts';

/** A session that was just opened. The token is returned here once and cannot be read again. */
type OpenedKeySession = { readonly session: KeySession; readonly token: string };

/**
 * Sign-in with an API key, which gives the rights of an owner of its user, or with a billing token, which reads usage
 * and calls. Key and token are looked up at each request: the session ends with the next one after they were disabled,
 * deleted, rotated or changed in any other way, or have expired. Methods reject with the store's error.
 */
export type KeySessions = {
  readonly open: (way: KeySignInWay, secret: string, origin: Origin) => Promise<OpenedKeySession | SignInRefusal>;
  /** The principal of a session's token; undefined if it opens no session now. */
  readonly find: (token: string, origin: Origin) => Promise<Principal | undefined>;
  /** Ends one session of a key or token, or all of it; returns how many. */
  readonly end: (
    ended: { readonly way: KeySignInWay; readonly holderId: string; readonly sessionId?: string },
    author: ChangeAuthor,
  ) => Promise<number>;
};

export type KeySessionDependencies = {
  readonly store: KeySessionStore &
    Pick<AuditStore, 'recordAction' | 'subjectVersion'> &
    Pick<AccountsStore, 'pepper' | 'findApiKeyByHash' | 'findBillingTokenByHash'>;
  readonly clock: Clock;
  readonly random: RandomBytes;
  readonly ids: (prefix: string) => string;
  /** Of wrong keys. Not those of passwords, so that neither uses up the other. */
  readonly limits: SignInLimits;
  /** The ways that the configuration allows. */
  readonly ways: readonly KeySignInWay[];
  /** The settings in force now. */
  readonly settings: () => RoleSettings;
};

/** Shorter than a day, so that the token need not be replaced. */
const lifetimeMs = 12 * 3_600_000;
const userAgentMax = 200;

export function createKeySessions(dependencies: KeySessionDependencies): KeySessions {
  const { store, clock, ways, limits } = dependencies;
  const refused = createRefusedSignIns(dependencies);
  return {
    open: async (way, secret, origin) => {
      if (!ways.includes(way)) return 'refused';
      const secretHash = hashSecret(await store.pepper(), secret.slice(0, secretCharactersMax + 1));
      // A wrong key is nobody's. By its hash, no flood of wrong keys slows down the others.
      const attempt = limits.begin({ personId: undefined, name: secretHash, address: origin.address });
      if ('retryAfterSeconds' in attempt) return attempt;
      const holder = secret.length > secretCharactersMax ? undefined : await findVersion(dependencies, way, secretHash, origin);
      if (holder === undefined) {
        await refused.record(undefined, way, 'unknown, disabled or expired, or not from this address', origin);
        return 'refused';
      }
      attempt.takeBack();
      return await openSession(dependencies, { way, secretHash, holder }, origin);
    },
    find: async (token, origin) => {
      if (ways.length === 0 || !isToken(token)) return undefined;
      const session = await store.findKeySession(hashSecret(await store.pepper(), token));
      if (session === undefined || !ways.includes(session.way) || clock.nowMs() >= session.expiresAtMs) return undefined;
      const { id: sessionId, way, holderId } = session;
      if ((await store.subjectVersion(subjectOf(way, holderId))) !== session.holderVersion) return undefined;
      const holder = await findHolder(dependencies, way, session.secretHash, origin);
      if (holder?.id !== holderId) return undefined;
      const author = authorOf(way, holderId, origin);
      return { ...holder.rights, author, signedInAtMs: session.createdAtMs, sessionId, holder: { way, id: holderId } };
    },
    end: (ended, author) => store.endKeySessions(ended, { ...author, atMs: clock.nowMs() }),
  };
}

/** A key or token that may sign in now. */
type Holder = { readonly id: string; readonly rights: Pick<Principal, 'permissions' | 'users'> };
type HolderVersion = { readonly id: string; readonly version: number };

const kinds: Readonly<Record<KeySignInWay, string>> = { api_key: 'key', billing_token: 'billing_token' };

/** The name of a key or token in the audit log. */
const subjectOf = (way: KeySignInWay, holderId: string): string => `${kinds[way]}:${holderId}`;

/** Undefined if the secret opens nothing now, for whatever reason: an answer must not tell. */
async function findHolder(
  dependencies: KeySessionDependencies,
  way: KeySignInWay,
  secretHash: string,
  origin: Origin,
): Promise<Holder | undefined> {
  return await (way === 'api_key' ? findKey(dependencies, secretHash, origin) : findToken(dependencies, secretHash));
}

/** The key or token of a secret with the number of its last change, which was made before it was found open. */
async function findVersion(
  dependencies: KeySessionDependencies,
  way: KeySignInWay,
  secretHash: string,
  origin: Origin,
): Promise<HolderVersion | undefined> {
  const found = await findHolder(dependencies, way, secretHash, origin);
  if (found === undefined) return undefined;
  const version = await dependencies.store.subjectVersion(subjectOf(way, found.id));
  return (await findHolder(dependencies, way, secretHash, origin))?.id === found.id ? { id: found.id, version } : undefined;
}

async function findKey(
  { store, clock, settings }: KeySessionDependencies,
  secretHash: string,
  { address }: Origin,
): Promise<Holder | undefined> {
  const key = await store.findApiKeyByHash(secretHash);
  if (key === undefined || !isOpenKey(key, secretHash, clock.nowMs(), address)) return undefined;
  return { id: key.id, rights: { permissions: permissionsOfKey(key, settings()), users: [key.userName] } };
}

function isOpenKey(key: StoredApiKey, secretHash: string, nowMs: number, address: string | undefined): boolean {
  if (key.disabledAtMs !== undefined) return false;
  if (key.hash !== secretHash && nowMs >= (key.previousOpensUntilMs ?? 0)) return false;
  return levelsOf(key).every(({ expiresAtMs, addresses }) => {
    if (expiresAtMs !== undefined && nowMs >= expiresAtMs) return false;
    return addresses === undefined || (address !== undefined && compileAddressList(addresses)(address));
  });
}

/** The limits of key, user, team and organization. */
const levelsOf = ({ limits, userLimits, team, organizationLimits }: ApiKey) =>
  [limits, userLimits, team?.limits, organizationLimits].filter((level) => level !== undefined);

async function findToken({ store, clock }: KeySessionDependencies, secretHash: string): Promise<Holder | undefined> {
  const token = await store.findBillingTokenByHash(secretHash);
  const nowMs = clock.nowMs();
  if (token === undefined || (token.expiresAtMs !== undefined && nowMs >= token.expiresAtMs)) return undefined;
  if (token.byPreviousSecret === true && nowMs >= (token.previousOpensUntilMs ?? 0)) return undefined;
  const users = token.userName === undefined ? ('all' as const) : [token.userName];
  return { id: token.id, rights: { permissions: permissionsOfBillingToken, users } };
}

async function openSession(
  { store, clock, random, ids }: KeySessionDependencies,
  { way, secretHash, holder }: { readonly way: KeySignInWay; readonly secretHash: string; readonly holder: HolderVersion },
  origin: Origin,
): Promise<OpenedKeySession> {
  const token = generateToken(random);
  const createdAtMs = clock.nowMs();
  const { address, userAgent } = origin;
  const session: KeySession = {
    id: ids('kse'),
    way,
    holderId: holder.id,
    secretHash,
    holderVersion: holder.version,
    createdAtMs,
    expiresAtMs: createdAtMs + lifetimeMs,
    ...(address === undefined ? {} : { address }),
    ...(userAgent === undefined ? {} : { userAgent: userAgent.slice(0, userAgentMax) }),
  };
  const tokenHash = hashSecret(await store.pepper(), token);
  await store.openKeySession({ ...session, tokenHash }, { ...authorOf(way, holder.id, origin), atMs: createdAtMs });
  return { session, token };
}

function authorOf(way: KeySignInWay, holderId: string, { address, requestId }: Origin): ChangeAuthor {
  const from = { ...(address === undefined ? {} : { address }), ...(requestId === undefined ? {} : { requestId }) };
  return { actor: subjectOf(way, holderId), via: 'api', ...from };
}
