import type { ChangeAuthor } from '../../audit/change-author.ts';
import type { Clock } from '../../platform/clock.ts';
import { generateId, type RandomBytes } from '../api-key-format.ts';
import { hashSecret } from '../hash-secret.ts';
import type { Person } from './person.ts';
import type { Session, SignInWay } from './session.ts';
import type { SessionStore } from './session-store.ts';

/** How long sessions last, in milliseconds. */
type SessionLifetimes = {
  /** From the last use of a session to its end. */
  readonly idleMs: number;
  /** From the sign-in to the end of its session, however much it is used. */
  readonly absoluteMs: number;
  /** The same after a sign-in with OIDC, because the provider does not say when its own session ends. */
  readonly oidcMs: number;
  /** A token is replaced by a new one after this time. */
  readonly tokenMs: number;
  /** The replaced token still works for this time, because a browser sends several requests at once. */
  readonly overlapMs: number;
};

const hourMs = 3_600_000;

const sessionLifetimesDefault: SessionLifetimes = {
  idleMs: 12 * hourMs,
  absoluteMs: 7 * 24 * hourMs,
  oidcMs: 12 * hourMs,
  tokenMs: 24 * hourMs,
  overlapMs: 30_000,
};

/** Where a request came from. */
export type Origin = {
  readonly address?: string | undefined;
  readonly userAgent?: string | undefined;
  readonly requestId?: string | undefined;
};

/** A session that was just opened. The token is returned here once and cannot be read again. */
export type OpenedSession = { readonly person: Person; readonly session: Session; readonly token: string };

/** A session that a token opens. */
type OpenSession = {
  readonly session: Session;
  readonly person: Person;
  /** Set if the token was replaced: the browser needs this one from now on. */
  readonly newToken?: string;
};

/**
 * The sessions of signed-in browsers. They are rows of the store and nothing else, so a session that ends is over in
 * every process with the next request. Methods reject with the store's error.
 */
export type Sessions = {
  /**
   * Opens a session of a person, or of the person of a sign-in code, which is used up. Undefined if the person does not
   * exist or is disabled, or the code does not exist, was used or has expired.
   */
  readonly open: (
    by: { readonly personId: string } | { readonly code: string },
    way: SignInWay,
    origin: Origin,
  ) => Promise<OpenedSession | undefined>;
  /** The session that a token opens now; undefined if none. Replaces a token that is a day old. */
  readonly find: (token: string) => Promise<OpenSession | undefined>;
  /** A new token for a session, at once: the old one ends. Undefined if there is no such session. */
  readonly renewToken: (sessionId: string) => Promise<string | undefined>;
  /** Notes that the person of a session has proved again who it is. With a code, see SessionStore. */
  readonly confirm: (sessionId: string, code: string | undefined, author: ChangeAuthor) => Promise<boolean>;
  readonly noteUse: (sessionId: string, usedAtMs: number) => Promise<void>;
  /** The sessions of a person that are not over, newest first. */
  readonly list: (personId: string) => Promise<readonly Session[]>;
  /** Ends one session of a person, all but one, or all; returns how many. */
  readonly end: (
    ended: { readonly personId: string; readonly sessionId?: string; readonly exceptSessionId?: string },
    author: ChangeAuthor,
  ) => Promise<number>;
};

export type SessionDependencies = {
  readonly store: SessionStore & { readonly pepper: () => Promise<string> };
  readonly clock: Clock;
  readonly random: RandomBytes;
  /** Makes ids with a prefix, as createIds does. */
  readonly ids: (prefix: string) => string;
  readonly lifetimes?: SessionLifetimes;
};

/** 43 letters and digits hold 256 bits. Anything else is not a token or code and never reaches the store. */
const tokenPattern = /^[0-9A-Za-z]{43}$/;
export const isToken = (text: string): boolean => tokenPattern.test(text);
const tokenLength = 43;
const userAgentMax = 200;

/** A session token, or a sign-in code: 256 random bits. */
export function generateToken(random: RandomBytes): string {
  return generateId(tokenLength, random);
}

export function createSessions(dependencies: SessionDependencies): Sessions {
  const { store, clock, random, lifetimes = sessionLifetimesDefault } = dependencies;
  const hashOf = async (token: string): Promise<string> => hashSecret(await store.pepper(), token);

  const isOver = ({ expiresAtMs, usedAtMs }: Session): boolean =>
    clock.nowMs() >= expiresAtMs || clock.nowMs() - usedAtMs >= lifetimes.idleMs;

  async function replaceToken(sessionId: string, overlapMs: number, presentHash?: string): Promise<string | undefined> {
    const token = generateToken(random);
    const nowMs = clock.nowMs();
    const times = { tokenSinceMs: nowMs, previousUntilMs: nowMs + overlapMs };
    const replacement = { sessionId, tokenHash: await hashOf(token), ...times, ...(presentHash === undefined ? {} : { presentHash }) };
    return (await store.replaceSessionToken(replacement)) ? token : undefined;
  }

  return {
    open: (by, way, origin) => openSession(dependencies, by, way, origin),
    find: async (token) => {
      if (!tokenPattern.test(token)) return undefined;
      const tokenHash = await hashOf(token);
      const found = await store.findSession(tokenHash);
      if (found === undefined) return undefined;
      const { session, person, previousUntilMs } = found;
      if (isOver(session) || person.disabledAtMs !== undefined) return undefined;
      if (previousUntilMs !== undefined) return clock.nowMs() < previousUntilMs ? { session, person } : undefined;
      if (clock.nowMs() - session.tokenSinceMs < lifetimes.tokenMs) return { session, person };
      // Of several requests with the old token, one gets the new token; the others are served during the overlap.
      const newToken = await replaceToken(session.id, lifetimes.overlapMs, tokenHash);
      return { session, person, ...(newToken === undefined ? {} : { newToken }) };
    },
    renewToken: (sessionId) => replaceToken(sessionId, 0),
    confirm: async (sessionId, code, author) => {
      if (code !== undefined && !tokenPattern.test(code)) return false;
      const codeHash = code === undefined ? undefined : await hashOf(code);
      const nowMs = clock.nowMs();
      const confirmation = { sessionId, signedInAtMs: nowMs, ...(codeHash === undefined ? {} : { codeHash }) };
      return await store.confirmSession(confirmation, { ...author, atMs: nowMs });
    },
    noteUse: (sessionId, usedAtMs) => store.noteSessionUse({ sessionId, usedAtMs }),
    list: async (personId) => (await store.listSessions(personId)).filter((session) => !isOver(session)),
    end: (ended, author) => store.endSessions(ended, { ...author, atMs: clock.nowMs() }),
  };
}

async function openSession(
  { store, clock, random, ids, lifetimes = sessionLifetimesDefault }: SessionDependencies,
  by: { readonly personId: string } | { readonly code: string },
  way: SignInWay,
  { address, requestId, userAgent }: Origin,
): Promise<OpenedSession | undefined> {
  if ('code' in by && !tokenPattern.test(by.code)) return undefined;
  const pepper = await store.pepper();
  const token = generateToken(random);
  const nowMs = clock.nowMs();
  const lastsMs = way === 'oidc' ? Math.min(lifetimes.oidcMs, lifetimes.absoluteMs) : lifetimes.absoluteMs;
  const times = { createdAtMs: nowMs, signedInAtMs: nowMs, tokenSinceMs: nowMs, usedAtMs: nowMs, expiresAtMs: nowMs + lastsMs };
  const session = {
    id: ids('ses'),
    way,
    ...times,
    ...(address === undefined ? {} : { address }),
    ...(userAgent === undefined ? {} : { userAgent: userAgent.slice(0, userAgentMax) }),
  };
  const opening = {
    session,
    tokenHash: hashSecret(pepper, token),
    by: 'code' in by ? { codeHash: hashSecret(pepper, by.code) } : by,
    idleBeforeMs: nowMs - lifetimes.idleMs,
  };
  const from = { ...(address === undefined ? {} : { address }), ...(requestId === undefined ? {} : { requestId }) };
  const person = await store.openSession(opening, { via: 'api', atMs: nowMs, ...from });
  return person === undefined ? undefined : { person, session: { ...session, personId: person.id }, token };
}
