import type { ChangeAuthor } from '../../audit/change-author.ts';
import type { Clock } from '../../platform/clock.ts';
import type { Logger } from '../../platform/log.ts';
import { waitFor } from '../../platform/wait-for.ts';
import { parseSecret } from '../api-key-format.ts';
import { hashSecret } from '../hash-secret.ts';
import type { AdminToken, FoundAdminToken } from './admin-token.ts';
import type { AdminTokenStore } from './admin-token-store.ts';
import type { KeySessions } from './keys/key-sessions.ts';
import { createLastUses } from './last-uses.ts';
import { narrowUsers, permissionsOf, type RoleSettings, usersOf, withinUsers } from './permissions-of.ts';
import type { Person } from './person.ts';
import type { Principal } from './principal.ts';
import type { Session } from './session.ts';
import type { Origin, Sessions } from './sessions.ts';

/** The person and the session that a token belongs to. */
type SignedIn = {
  readonly principal: Principal;
  readonly person: Person;
  readonly session: Session;
  /** Set if the token was replaced: the cookie must be set to this one. */
  readonly newToken?: string;
};

/** Finds out on whose behalf a request is made. */
export type Principals = {
  /**
   * The principal of a session's token; undefined if the token opens no session now. `unavailable`: the store does not
   * answer, so the caller must not learn that the token is wrong. Rejects only with the reason of the signal.
   */
  readonly ofSession: (token: string, origin: Origin, signal: AbortSignal) => Promise<SignedIn | undefined | 'unavailable'>;
  /** The principal of the token of a key's session, as above. */
  readonly ofKeySession: (token: string, origin: Origin, signal: AbortSignal) => Promise<Principal | undefined | 'unavailable'>;
  /** The principal of an admin token's secret, as above. */
  readonly ofAdminToken: (secret: string, origin: Origin, signal: AbortSignal) => Promise<Principal | undefined | 'unavailable'>;
};

export type PrincipalDependencies = {
  readonly sessions: Pick<Sessions, 'find' | 'noteUse'>;
  readonly keySessions: Pick<KeySessions, 'find'>;
  readonly store: Pick<AdminTokenStore, 'findAdminTokenByHash' | 'noteAdminTokenUse'> & { readonly pepper: () => Promise<string> };
  readonly clock: Clock;
  readonly logger: Logger;
  /** The settings in force now; they can change while the program runs. */
  readonly settings: () => RoleSettings;
  /** How long to wait for the store, whose answer takes seconds if no processor is free. Default 10 s. */
  readonly storeTimeoutMs?: number;
};

/** The most look-ups at once; a further one gets `unavailable`. */
const lookUpsMax = 64;
/** Uses are noted when the recorded one is so old. */
const noteAfterMs = 60_000;

/**
 * Nothing is cached: a session or token that ends is over with the next request, in every process. The console has few
 * requests, and a look-up is two rows by their keys.
 */
export function createPrincipals(dependencies: PrincipalDependencies): Principals {
  const { sessions, keySessions, store, clock, logger, settings, storeTimeoutMs = 10_000 } = dependencies;
  const uses = createLastUses({ clock, logger });
  let lookUps = 0;

  async function lookUp<Found>(work: () => Promise<Found>, signal: AbortSignal): Promise<Found | 'unavailable'> {
    signal.throwIfAborted();
    if (lookUps >= lookUpsMax) return 'unavailable';
    lookUps += 1;
    try {
      return await waitFor(work(), storeTimeoutMs, signal);
    } catch (error) {
      if (signal.aborted) throw error;
      logger.warn({ err: error }, 'sign-in lookup failed');
      return 'unavailable';
    } finally {
      lookUps -= 1;
    }
  }

  return {
    ofSession: async (token, origin, signal) => {
      const found = await lookUp(() => sessions.find(token), signal);
      if (found === undefined || found === 'unavailable') return found;
      const { session } = found;
      if (clock.nowMs() - session.usedAtMs >= noteAfterMs) uses.note(session.id, (usedAtMs) => sessions.noteUse(session.id, usedAtMs));
      return { ...found, principal: principalOfSession(found.person, session, settings(), origin) };
    },
    ofKeySession: (token, origin, signal) => lookUp(() => keySessions.find(token, origin), signal),
    ofAdminToken: async (secret, origin, signal) => {
      if (parseSecret('at-weir', secret) === undefined) return undefined;
      const found = await lookUp(async () => await store.findAdminTokenByHash(hashSecret(await store.pepper(), secret)), signal);
      if (found === undefined || found === 'unavailable') return found;
      const principal = principalOfToken(found, settings(), clock.nowMs(), origin);
      const { id } = found.token;
      if (principal !== undefined) uses.note(id, (usedAtMs) => store.noteAdminTokenUse({ tokenId: id, usedAtMs }));
      return principal;
    },
  };
}

function principalOfSession(person: Person, session: Session, settings: RoleSettings, origin: Origin): Principal {
  return {
    permissions: permissionsOf(person, settings),
    users: usersOf(person),
    author: authorOf(`person:${person.name}`, origin),
    signedInAtMs: session.signedInAtMs,
    sessionId: session.id,
    personId: person.id,
  };
}

/** Undefined if the token, its previous secret, or its maker may not sign in now. */
function principalOfToken(
  { token, byPreviousSecret, maker }: FoundAdminToken,
  settings: RoleSettings,
  nowMs: number,
  origin: Origin,
): Principal | undefined {
  if (nowMs >= token.expiresAtMs) return undefined;
  if (byPreviousSecret === true && nowMs >= (token.previousOpensUntilMs ?? 0)) return undefined;
  const author = authorOf(`token:${token.name}`, origin);
  const own = { author, tokenId: token.id };
  const given = new Set(token.permissions);
  if (token.makerId === undefined) return { permissions: withinUsers(given, token.users), users: token.users, ...own };
  if (maker === undefined || maker.disabledAtMs !== undefined) return undefined;
  return { ...asMakerNow(token, maker, settings), ...own, makerId: maker.id };
}

/** A token does no more than its maker may do today, whatever it was given. */
function asMakerNow(token: AdminToken, maker: Person, settings: RoleSettings): Pick<Principal, 'permissions' | 'users'> {
  const users = narrowUsers(usersOf(maker), token.users);
  return { permissions: withinUsers(permissionsOf(maker, settings).intersection(new Set(token.permissions)), users), users };
}

function authorOf(actor: string, { address, requestId }: Origin): ChangeAuthor {
  return { actor, via: 'api', ...(address === undefined ? {} : { address }), ...(requestId === undefined ? {} : { requestId }) };
}
