import type { ChangeAuthor } from '../../../audit/change-author.ts';
import type { Clock } from '../../../platform/clock.ts';
import { AccountsError } from '../../accounts-error.ts';
import { parseName } from '../../parse-name.ts';
import { PeopleError } from '../people-error.ts';
import type { People } from '../people.ts';
import type { Person } from '../person.ts';
import { createRefusedSignIns, type RefusedSignIns } from '../refused-sign-ins.ts';
import type { OpenedSession, Origin, Sessions } from '../sessions.ts';
import type { SignInDependencies, SignIns } from '../sign-ins.ts';
import { type Claims, mapClaims, type MappedClaims } from './map-claims.ts';
import type { BegunSignIn, OidcProvider, ProvenPerson, SignInRequest, WayBack } from './oidc-provider.ts';
import type { OidcSettings } from './oidc-settings.ts';

/**
 * Signs people in by a provider of OpenID Connect. A person is found by issuer and subject, or made. At each sign-in it
 * gets the role, and the users if the settings map them or teams, that its claims have now. Methods reject with
 * OidcError, and with the store's error.
 */
export type OidcSignIns = {
  readonly begin: (request: SignInRequest, signal: AbortSignal) => Promise<BegunSignIn>;
  /**
   * Opens a session, or confirms the one for which the sign-in was begun, which gets a new token. `refused`: the claims
   * have no mapped role, which also ends the person's sessions; the person is disabled; it is the last operator, and
   * would become something else; or the confirmed session is not the person's.
   */
  readonly finish: (back: WayBack, origin: Origin, signal: AbortSignal) => Promise<OpenedSession | 'refused'>;
};

export type OidcSignInDependencies = {
  readonly provider: OidcProvider;
  readonly settings: OidcSettings;
  readonly people: Pick<People, 'find' | 'createOfIdentity' | 'change' | 'claimedUsers'>;
  readonly sessions: Pick<Sessions, 'open' | 'end' | 'list'>;
  readonly signIns: Pick<SignIns, 'confirm'>;
  readonly store: Pick<SignInDependencies['store'], 'recordAction'>;
  readonly clock: Clock;
};

export function createOidcSignIns(dependencies: OidcSignInDependencies): OidcSignIns {
  const { provider, sessions } = dependencies;
  const refused = createRefusedSignIns(dependencies);
  return {
    begin: (request, signal) => provider.begin(request, signal),
    finish: async (back, origin, signal) => {
      const proven = await provider.finish(back, signal);
      if (proven.confirms !== undefined) return await confirm(dependencies, refused, { ...proven, confirms: proven.confirms }, origin);
      const person = await enter(dependencies, refused, proven, origin);
      return person === undefined ? 'refused' : ((await sessions.open({ personId: person.id }, 'oidc', origin)) ?? 'refused');
    },
  };
}

/** The way back comes from another site, without the session's cookie. So the session must be one of the person's. */
async function confirm(
  { people, sessions, signIns }: OidcSignInDependencies,
  refused: RefusedSignIns,
  { identity, confirms }: ProvenPerson & { readonly confirms: string },
  origin: Origin,
): Promise<OpenedSession | 'refused'> {
  const person = await people.find({ identity });
  const session = person === undefined ? undefined : (await sessions.list(person.id)).find(({ id }) => id === confirms);
  if (person === undefined || session === undefined) {
    await refused.record(person?.id, 'oidc', 'confirmed as somebody else', origin);
    return 'refused';
  }
  const confirmed = await signIns.confirm(session, 'oidc', authorOf(`person:${person.name}`, origin));
  return confirmed === 'refused' || 'retryAfterSeconds' in confirmed ? 'refused' : { person, session, token: confirmed.token };
}

/** The person of an identity, made or brought up to date. Undefined if it may not sign in. */
async function enter(
  dependencies: OidcSignInDependencies,
  refused: RefusedSignIns,
  { identity, claims }: ProvenPerson,
  origin: Origin,
): Promise<Person | undefined> {
  const { people, sessions, settings } = dependencies;
  const author = authorOf(`oidc:${new URL(settings.issuer).host}`, origin);
  const known = await people.find({ identity });
  const refuse = async (reason: string): Promise<undefined> => {
    if (known !== undefined) await sessions.end({ personId: known.id }, author);
    await refused.record(known?.id, 'oidc', reason, origin);
  };
  const mapped = mapClaims(claims, settings);
  if (mapped === undefined) return await refuse('no role for its claims');
  if (known?.disabledAtMs !== undefined) return await refuse('disabled');
  const { role } = mapped;
  const areMapped = mapped.users !== undefined || mapped.teams !== undefined;
  const wanted = { role, ...(areMapped && { users: await people.claimedUsers(mapped) }) };
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
  { role, users }: Pick<MappedClaims, 'role' | 'users'>,
  author: ChangeAuthor,
): Promise<Person | undefined> {
  const person = { name: nameOf(claims, identity.subject), role, identity, users: users ?? [], email: emailOf(claims) };
  // Undefined if another process has made the person at this moment.
  return (await people.createOfIdentity(person, author)) ?? (await people.find({ identity }));
}

function authorOf(actor: string, { address, requestId }: Origin): ChangeAuthor {
  const from = { ...(address === undefined ? {} : { address }), ...(requestId === undefined ? {} : { requestId }) };
  return { actor, via: 'api', ...from };
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
