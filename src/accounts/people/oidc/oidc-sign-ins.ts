import type { ChangeAuthor } from '../../../audit/change-author.ts';
import type { Clock } from '../../../platform/clock.ts';
import { AccountsError } from '../../accounts-error.ts';
import { parseName } from '../../parse-name.ts';
import { PeopleError } from '../people-error.ts';
import type { People } from '../people.ts';
import type { Person } from '../person.ts';
import { createRefusedSignIns, type RefusedSignIns } from '../refused-sign-ins.ts';
import type { Session } from '../session.ts';
import type { OpenedSession, Origin, Sessions } from '../sessions.ts';
import type { SignInDependencies, SignInRefusal, SignIns } from '../sign-ins.ts';
import { type Claims, mapClaims, type MappedClaims } from './map-claims.ts';
import type { BegunSignIn, OidcProvider, OidcPurpose, ProvenPerson } from './oidc-provider.ts';
import type { OidcSettings } from './oidc-settings.ts';

/** The query of the address to which the provider sent the browser, and the content of its cookie. */
type WayBack = { readonly search: string; readonly kept: string };

/**
 * Signs people in by a provider of OpenID Connect. A person is found by issuer and subject, or made. At each sign-in it
 * gets the role, and the users if the settings map them, that its claims have now. Methods reject with OidcError, and
 * with the store's error.
 */
export type OidcSignIns = {
  readonly begin: (purpose: OidcPurpose, signal: AbortSignal) => Promise<BegunSignIn>;
  /**
   * Opens a session. `refused`: the claims have no mapped role, which also ends the person's sessions; the person is
   * disabled; or it is the last operator, and would become something else.
   */
  readonly finish: (back: WayBack, origin: Origin, signal: AbortSignal) => Promise<OpenedSession | 'refused'>;
  /** Proves again who the person of a session is, as SignIns.confirm. `refused` if it is somebody else. */
  readonly confirm: (
    back: WayBack,
    session: Session,
    author: ChangeAuthor,
    signal: AbortSignal,
  ) => Promise<{ readonly token: string } | SignInRefusal>;
};

export type OidcSignInDependencies = {
  readonly provider: OidcProvider;
  readonly settings: OidcSettings;
  readonly people: Pick<People, 'find' | 'createOfIdentity' | 'change' | 'knownUsers'>;
  readonly sessions: Pick<Sessions, 'open' | 'end'>;
  readonly signIns: Pick<SignIns, 'confirm'>;
  readonly store: Pick<SignInDependencies['store'], 'recordAction'>;
  readonly clock: Clock;
};

export function createOidcSignIns(dependencies: OidcSignInDependencies): OidcSignIns {
  const { provider, people, sessions, signIns } = dependencies;
  const refused = createRefusedSignIns(dependencies);
  return {
    begin: (purpose, signal) => provider.begin(purpose, signal),
    finish: async (back, origin, signal) => {
      const proven = await provider.finish(back, signal);
      const person = await enter(dependencies, refused, proven, origin);
      return person === undefined ? 'refused' : ((await sessions.open({ personId: person.id }, 'oidc', origin)) ?? 'refused');
    },
    confirm: async (back, session, author, signal) => {
      const proven = await provider.finish(back, signal);
      const person = await people.find({ identity: proven.identity });
      if (proven.purpose !== 'confirm' || person?.id !== session.personId) {
        await refused.record(session.personId, 'oidc', 'confirmed as somebody else', author);
        return 'refused';
      }
      return await signIns.confirm(session, 'oidc', author);
    },
  };
}

/** The person of an identity, made or brought up to date. Undefined if it may not sign in. */
async function enter(
  dependencies: OidcSignInDependencies,
  refused: RefusedSignIns,
  { identity, claims }: ProvenPerson,
  origin: Origin,
): Promise<Person | undefined> {
  const { people, sessions, settings } = dependencies;
  const author = authorOf(settings, origin);
  const known = await people.find({ identity });
  const refuse = async (reason: string): Promise<undefined> => {
    if (known !== undefined) await sessions.end({ personId: known.id }, author);
    await refused.record(known?.id, 'oidc', reason, origin);
  };
  const mapped = mapClaims(claims, settings);
  if (mapped === undefined) return await refuse('no role for its claims');
  if (known?.disabledAtMs !== undefined) return await refuse('disabled');
  const wanted = { ...mapped, ...(mapped.users === undefined ? {} : { users: await people.knownUsers(mapped.users) }) };
  if (known === undefined) return await make(people, { identity, claims }, wanted, author);
  try {
    const email = emailOf(claims);
    return await people.change({ id: known.id }, { ...wanted, ...(email === undefined ? {} : { email }) }, author);
  } catch (error) {
    if (error instanceof PeopleError && error.code === 'last_operator')
      return await refuse('is the last operator and has another role now');
    throw error;
  }
}

async function make(
  people: OidcSignInDependencies['people'],
  { identity, claims }: Pick<ProvenPerson, 'identity' | 'claims'>,
  { role, users }: MappedClaims,
  author: ChangeAuthor,
): Promise<Person | undefined> {
  const person = { name: nameOf(claims, identity.subject), role, identity, users: users ?? [], email: emailOf(claims) };
  // Undefined if another process has made the person at this moment.
  return (await people.createOfIdentity(person, author)) ?? (await people.find({ identity }));
}

function authorOf({ issuer }: OidcSettings, { address, requestId }: Origin): ChangeAuthor {
  const from = { ...(address === undefined ? {} : { address }), ...(requestId === undefined ? {} : { requestId }) };
  return { actor: `oidc:${new URL(issuer).host}`, via: 'api', ...from };
}

/** A name from the claims that follows the rules of names. */
function nameOf(claims: Claims, subject: string): string {
  for (const claim of [claims['preferred_username'], claims['email'], claims['name'], subject]) {
    if (typeof claim !== 'string') continue;
    const text = claim.normalize('NFC').replaceAll(/[^\p{L}\p{M}\p{N} ._@+-]/gu, '-');
    const name = Array.from(text.replace(/^[^\p{L}\p{N}]+/u, ''))
      .slice(0, 60)
      .join('')
      .trimEnd();
    if (isName(name)) return name;
  }
  return 'person';
}

function isName(text: string): boolean {
  try {
    return parseName('name', text) === text;
  } catch (error) {
    if (error instanceof AccountsError) return false;
    throw error;
  }
}

function emailOf({ email }: Claims): string | undefined {
  return typeof email === 'string' && /^[^\s@\p{Cc}]{1,127}@[^\s@\p{Cc}]{1,126}$/u.test(email) ? email : undefined;
}
