import type { AuditStore } from '../../audit/audit-entry.ts';
import type { ChangeAuthor } from '../../audit/change-author.ts';
import { hashSecret } from '../hash-secret.ts';
import { PeopleError } from './people-error.ts';
import type { PeopleStores } from './people-stores.ts';
import type { Person } from './person.ts';
import { checkPassword, type Passwords } from './passwords.ts';
import { createRefusedSignIns, type RefusedSignIns } from './refused-sign-ins.ts';
import { generateToken, type OpenedSession, type Origin, type SessionDependencies, type Sessions } from './sessions.ts';
import type { Session } from './session.ts';
import type { SignInLimits } from './sign-in-limits.ts';

/** A sign-in that was not made. `refused` gives no reason, so that it discloses nothing. */
export type SignInRefusal = 'refused' | { readonly retryAfterSeconds: number };

/** A code for a link. It is returned here once and cannot be read again. */
type SignInCode = { readonly code: string; readonly expiresAtMs: number };

/** How people prove who they are. Methods reject with PeopleError for a mistake, and with the store's error. */
export type SignIns = {
  /** A code that signs a person in, once, within 15 minutes. Undefined for an unknown or disabled person. */
  readonly createCode: (personId: string, author: ChangeAuthor) => Promise<SignInCode | undefined>;
  readonly byCode: (code: string, origin: Origin) => Promise<OpenedSession | 'refused'>;
  /** `retryAfterSeconds`: too many wrong passwords of this name or address, or too many that are being checked. */
  readonly byPassword: (
    credentials: { readonly name: string; readonly password: string },
    origin: Origin,
  ) => Promise<OpenedSession | SignInRefusal>;
  /**
   * Proves again who the person of a session is, by its password or a code of its own. The session gets a new token,
   * which is returned, and counts as signed in now.
   */
  readonly confirm: (
    session: Session,
    proof: { readonly password: string } | { readonly code: string } | 'oidc',
    author: ChangeAuthor,
  ) => Promise<{ readonly token: string } | SignInRefusal>;
  /**
   * Sets a person's password, or removes it with undefined, and ends the person's sessions. The session in which it is
   * set goes on with a new token, which is returned. Rejects with `weak_password`, `signs_in_elsewhere` or `busy`.
   * False if there is no such person.
   */
  readonly setPassword: (
    setting: { readonly personId: string; readonly password: string | undefined; readonly sessionId?: string | undefined },
    author: ChangeAuthor,
  ) => Promise<{ readonly newToken: string | undefined } | false>;
};

export type SignInDependencies = Omit<SessionDependencies, 'lifetimes' | 'store'> & {
  readonly store: PeopleStores & Pick<AuditStore, 'recordAction'> & { readonly pepper: () => Promise<string> };
  readonly sessions: Sessions;
  readonly passwords: Passwords;
  readonly limits: SignInLimits;
};

/** How long a link works. */
const codeLifetimeMs = 15 * 60_000;
/** A longer one is nobody's name. */
const nameLengthMax = 256;

export function createSignIns(dependencies: SignInDependencies): SignIns {
  const { store, clock, random, sessions } = dependencies;
  const refused = createRefusedSignIns(dependencies);

  return {
    createCode: async (personId, author) => {
      const code = generateToken(random);
      const createdAtMs = clock.nowMs();
      const expiresAtMs = createdAtMs + codeLifetimeMs;
      const row = { hash: hashSecret(await store.pepper(), code), personId, createdAtMs, expiresAtMs };
      return (await store.insertSignInCode(row, { ...author, atMs: createdAtMs })) ? { code, expiresAtMs } : undefined;
    },
    byCode: async (code, origin) => {
      const opened = await sessions.open({ code }, 'link', origin);
      if (opened === undefined) await refused.record(undefined, 'link', 'unknown, used or expired link', origin);
      return opened ?? 'refused';
    },
    byPassword: async ({ name, password }, origin) => {
      const person = name.length > nameLengthMax ? undefined : await store.findPerson({ name });
      const refusal = await tryPassword(dependencies, refused, { person, name: name.slice(0, nameLengthMax), password }, origin);
      if (refusal !== undefined || person === undefined) return refusal ?? 'refused';
      return (await sessions.open({ personId: person.id }, 'password', origin)) ?? 'refused';
    },
    confirm: async (session, proof, author) => {
      if (proof !== 'oidc' && 'password' in proof) {
        const person = await store.findPerson({ id: session.personId });
        const attempt = { person, name: person?.name ?? '', password: proof.password };
        const refusal = await tryPassword(dependencies, refused, attempt, author);
        if (refusal !== undefined) return refusal;
      }
      const code = proof !== 'oidc' && 'code' in proof ? proof.code : undefined;
      if (!(await sessions.confirm(session.id, code, author))) {
        await refused.record(session.personId, code === undefined ? session.way : 'link', 'confirmation failed', author);
        return 'refused';
      }
      const token = await sessions.renewToken(session.id);
      return token === undefined ? 'refused' : { token };
    },
    setPassword: (setting, author) => setPassword(dependencies, setting, author),
  };
}

/** Undefined if the password is the person's. Takes the same time for people who do not exist. */
async function tryPassword(
  { store, passwords, limits }: SignInDependencies,
  refused: RefusedSignIns,
  { person, name, password }: { readonly person: Person | undefined; readonly name: string; readonly password: string },
  origin: Origin,
): Promise<SignInRefusal | undefined> {
  const attempt = limits.begin({ personId: person?.id, name, address: origin.address });
  if ('retryAfterSeconds' in attempt) return attempt;
  let verdict;
  let stored;
  try {
    stored = person === undefined ? undefined : await store.findPasswordHash(person.id);
    verdict = await passwords.verify(password, stored);
  } catch (error) {
    attempt.takeBack();
    if (error instanceof PeopleError && error.code === 'busy') return { retryAfterSeconds: 1 };
    throw error;
  }
  if (!verdict.matches || person === undefined || person.disabledAtMs !== undefined) {
    await refused.record(person?.id, 'password', person?.disabledAtMs === undefined ? 'wrong name or password' : 'disabled', origin);
    return 'refused';
  }
  attempt.takeBack();
  if (verdict.isOutdated && stored !== undefined)
    await store.renewPasswordHash({ personId: person.id, previousHash: stored, hash: await passwords.hash(password) });
  return undefined;
}

async function setPassword(
  { store, clock, passwords, sessions }: SignInDependencies,
  {
    personId,
    password,
    sessionId,
  }: { readonly personId: string; readonly password: string | undefined; readonly sessionId?: string | undefined },
  author: ChangeAuthor,
): Promise<{ readonly newToken: string | undefined } | false> {
  const person = await store.findPerson({ id: personId });
  if (person === undefined) return false;
  if (password !== undefined && person.identity !== undefined)
    throw new PeopleError('signs_in_elsewhere', `${person.name} signs in at ${person.identity.issuer}, and has no password here.`);
  if (password !== undefined) checkPassword(password);
  const hash = password === undefined ? undefined : await passwords.hash(password);
  const change = { ...author, atMs: clock.nowMs() };
  if (!(await store.setPasswordHash({ personId, hash, keepSessionId: sessionId }, change))) return false;
  return { newToken: sessionId === undefined ? undefined : await sessions.renewToken(sessionId) };
}
