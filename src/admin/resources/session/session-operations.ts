import { Type } from 'typebox';

import type { KeySessions } from '../../../accounts/people/keys/key-sessions.ts';
import type { KeySignInWay } from '../../../accounts/people/keys/key-session.ts';
import { type Permission, permissions, roles } from '../../../accounts/people/permissions.ts';
import type { People } from '../../../accounts/people/people.ts';
import type { Principal } from '../../../accounts/people/principal.ts';
import type { Session } from '../../../accounts/people/session.ts';
import type { OpenedSession, Sessions } from '../../../accounts/people/sessions.ts';
import type { SignInRefusal, SignIns } from '../../../accounts/people/sign-ins.ts';
import type { CreditUnit } from '../../../billing/rating/rating.ts';
import { instant, nullable, optionalInstant, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { Answer, Operation } from '../../operation.ts';
import { AdminProblem } from '../../problem.ts';
import { ownSession, ownSessionOperations } from './own-sessions.ts';

export type SessionServices = {
  readonly people: Pick<People, 'find'>;
  readonly sessions: Pick<Sessions, 'list' | 'end'>;
  readonly signIns: Pick<SignIns, 'byCode' | 'byPassword' | 'confirm' | 'setPassword'>;
  readonly keySessions: Pick<KeySessions, 'open' | 'end'>;
  /** The ways to sign in beside links. `provider` is the issuer of OpenID Connect. */
  readonly ways: { readonly passwords: boolean; readonly provider?: string; readonly keys: readonly KeySignInWay[] };
  /** The zone of statistics, the version of the program, and the unit in which people see amounts beside USD. */
  readonly about: { readonly timeZone: string; readonly version: string; readonly creditUnit?: CreditUnit };
};

const sessionSchema = record(
  {
    person: nullable(record({ id: Type.String(), name: Type.String(), role: Type.Enum(roles), has_password: Type.Boolean() })),
    actor: Type.String({ description: 'The name in the audit log.' }),
    permissions: Type.Array(Type.Enum(permissions), { description: 'What the caller may do: hide the rest.' }),
    users: nullable(Type.Array(Type.String(), { description: 'The users whose data is visible; null for all.' })),
    signed_in_at: nullable(Type.String({ description: 'When the person last proved who they are; null for tokens.' })),
    time_zone: Type.String({ description: 'The zone of days and months in the statistics.' }),
    credit_unit: nullable(
      record(
        { name: Type.String(), per_usd: Type.String({ description: 'Units of one USD: a decimal number.' }) },
        'A unit of the operator, in which amounts are shown beside USD.',
      ),
    ),
    version: Type.String({ description: 'Version of the program.' }),
  },
  'The caller.',
);

async function describeCaller(principal: Principal, { people, about }: SessionServices) {
  const person = principal.personId === undefined ? undefined : await people.find({ id: principal.personId });
  const allowed = (permission: Permission): boolean => principal.permissions.has(permission);
  return {
    person: person === undefined ? null : { id: person.id, name: person.name, role: person.role, has_password: person.hasPassword },
    actor: principal.author.actor,
    permissions: permissions.filter(allowed),
    users: principal.users === 'all' ? null : [...principal.users],
    signed_in_at: optionalInstant(principal.signedInAtMs),
    time_zone: about.timeZone,
    credit_unit: about.creditUnit === undefined ? null : { name: about.creditUnit.name, per_usd: about.creditUnit.perUsd },
    version: about.version,
  };
}

const openedSchema = record({
  person: nullable(record({ id: Type.String(), name: Type.String(), role: Type.Enum(roles) }, 'null for an API key or a billing token.')),
  expires_at: Type.String(),
});

function answerOpened({ person, session, token }: OpenedSession) {
  const { id, name, role } = person;
  return {
    body: { person: { id, name, role }, expires_at: instant(session.expiresAtMs) },
    session: { token },
  };
}

/** The refusal of a sign-in. It does not say what was wrong. */
function refuseSignIn(refusal: SignInRefusal): AdminProblem {
  if (refusal === 'refused')
    return new AdminProblem(
      'unauthenticated',
      'The name, the password, the link, the key or the token is wrong, used, disabled or expired.',
    );
  const { retryAfterSeconds } = refusal;
  return new AdminProblem(
    'too_many_requests',
    `Too many attempts. Try again in ${retryAfterSeconds} s, or use a link (weir console link).`,
    {
      headers: { 'retry-after': String(retryAfterSeconds) },
    },
  );
}

const passwordText = Type.String({ minLength: 1, maxLength: 1024 });
const codeText = Type.String({ minLength: 1, maxLength: 100, description: 'The code of a one-time link.' });
const secretText = Type.String({ minLength: 1, maxLength: 256 });
const proofSchema = Type.Union([
  request({ code: codeText }),
  request({ name: Type.String({ maxLength: 256 }), password: passwordText }),
  request({ api_key: secretText }),
  request({ billing_token: secretText }),
]);

const createSession = operation({
  id: 'session.create',
  method: 'POST',
  path: '/session',
  summary: 'Signs in, by a one-time link, by name and password, or by a key or token if console.signIn allows it',
  access: 'anybody',
  status: 201,
  body: proofSchema,
  reply: openedSchema,
  handle: async ({ body }, { services, principal }: { services: SessionServices; principal: Principal }) => {
    if ('api_key' in body) return await openByKey(services, 'api_key', body.api_key, principal);
    if ('billing_token' in body) return await openByKey(services, 'billing_token', body.billing_token, principal);
    if (!('code' in body)) requirePasswords(services);
    const opened =
      'code' in body
        ? await services.signIns.byCode(body.code, principal.author)
        : await services.signIns.byPassword({ name: body.name, password: body.password }, principal.author);
    if (opened === 'refused' || 'retryAfterSeconds' in opened) throw refuseSignIn(opened);
    return answerOpened(opened);
  },
});

const settingOf: Readonly<Record<KeySignInWay, string>> = { api_key: 'apiKey', billing_token: 'billingToken' };

async function openByKey({ keySessions, ways }: SessionServices, way: KeySignInWay, secret: string, { author }: Principal) {
  if (!ways.keys.includes(way))
    throw new AdminProblem('conflict', `The configuration does not let it sign in (console.signIn: [${settingOf[way]}]).`);
  const opened = await keySessions.open(way, secret, author);
  if (opened === 'refused' || 'retryAfterSeconds' in opened) throw refuseSignIn(opened);
  const { session, token } = opened;
  return { body: { person: null, expires_at: instant(session.expiresAtMs) }, session: { token } };
}

/** @throws AdminProblem `conflict` if the configuration has turned passwords off */
function requirePasswords({ ways }: SessionServices): void {
  if (ways.passwords) return;
  const others = ways.provider === undefined ? 'a link (weir console link)' : '/oidc/start, or a link (weir console link)';
  throw new AdminProblem('conflict', `The configuration turns passwords off (console.passwords): sign in with ${others}.`);
}

const listWays = operation({
  id: 'session.ways',
  method: 'GET',
  path: '/session/ways',
  summary: 'The ways to sign in, for the page that offers them',
  access: 'anybody',
  reply: record({
    link: Type.Boolean({ description: 'Always true.' }),
    password: Type.Boolean(),
    api_key: Type.Boolean(),
    billing_token: Type.Boolean(),
    oidc: nullable(
      record({
        issuer: Type.String(),
        start: Type.String({ description: 'The path to which the browser goes.', examples: ['/oidc/start'] }),
      }),
    ),
  }),
  handle: async (_input, { services: { ways } }: { services: SessionServices }) => ({
    body: {
      link: true,
      password: ways.passwords,
      api_key: ways.keys.includes('api_key'),
      billing_token: ways.keys.includes('billing_token'),
      oidc: ways.provider === undefined ? null : { issuer: ways.provider, start: '/oidc/start' },
    },
  }),
});

export const getSession = operation({
  id: 'session.get',
  method: 'GET',
  path: '/session',
  summary: 'The caller and its permissions',
  access: 'signed-in',
  reply: sessionSchema,
  handle: async (_input, { services, principal }: { services: SessionServices; principal: Principal }) => ({
    body: await describeCaller(principal, services),
  }),
});

const endSession = operation({
  id: 'session.delete',
  method: 'DELETE',
  path: '/session',
  summary: 'Signs out; with `everywhere`, ends all sessions of the person, key or token',
  access: 'signed-in',
  status: 204,
  query: record({ everywhere: Type.Optional(Type.Boolean()) }),
  handle: async ({ query }, { services, principal }: { services: SessionServices; principal: Principal }): Promise<Answer<undefined>> => {
    const { holder } = principal;
    if (holder !== undefined) {
      const one = query.everywhere !== true && principal.sessionId !== undefined ? { sessionId: principal.sessionId } : {};
      await services.keySessions.end({ way: holder.way, holderId: holder.id, ...one }, principal.author);
      return { body: undefined, session: 'end' };
    }
    const { personId, sessionId } = ownSession(principal);
    await services.sessions.end({ personId, ...(query.everywhere === true ? {} : { sessionId }) }, principal.author);
    return { body: undefined, session: 'end' };
  },
});

const confirmSession = operation({
  id: 'session.confirm',
  method: 'POST',
  path: '/session/confirm',
  summary: 'Proves again who the person is, for operations that need a recent sign-in',
  access: 'signed-in',
  body: Type.Union([request({ code: codeText }), request({ password: passwordText })]),
  reply: record({ confirmed: Type.Boolean() }),
  handle: async ({ body }, { services, principal }: { services: SessionServices; principal: Principal }) => {
    const session = await findOwn(services, principal);
    if ('password' in body) requirePasswords(services);
    const confirmed = await services.signIns.confirm(session, body, principal.author);
    if (confirmed === 'refused' || 'retryAfterSeconds' in confirmed) throw refuseSignIn(confirmed);
    return { body: { confirmed: true }, session: { token: confirmed.token } };
  },
});

async function findOwn({ sessions }: SessionServices, principal: Principal): Promise<Session> {
  const { personId, sessionId } = ownSession(principal);
  const session = (await sessions.list(personId)).find(({ id }) => id === sessionId);
  if (session === undefined) throw new AdminProblem('unauthenticated', 'The session has ended: sign in again.');
  return session;
}

const setPassword = operation({
  id: 'session.set_password',
  method: 'PUT',
  path: '/session/password',
  summary: 'Sets the password of the person, and ends its other sessions',
  access: 'signed-in',
  recentSignIn: true,
  status: 204,
  body: request({ password: passwordText }),
  handle: async ({ body }, { services, principal }: { services: SessionServices; principal: Principal }): Promise<Answer<undefined>> => {
    const { personId, sessionId } = ownSession(principal);
    requirePasswords(services);
    const set = await services.signIns.setPassword({ personId, password: body.password, sessionId }, principal.author);
    if (set === false) throw new AdminProblem('unauthenticated', 'The session has ended: sign in again.');
    return { body: undefined, ...(set.newToken !== undefined && { session: { token: set.newToken } }) };
  },
});

export const sessionOperations: readonly Operation<SessionServices>[] = [
  createSession,
  listWays,
  getSession,
  endSession,
  confirmSession,
  setPassword,
  ...ownSessionOperations,
];
