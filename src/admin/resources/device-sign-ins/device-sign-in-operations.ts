import { Type } from 'typebox';

import type { DeviceLimit, DeviceSignIns, OpenDeviceSignIn } from '../../../accounts/people/devices/device-sign-ins.ts';
import { permissions } from '../../../accounts/people/permissions.ts';
import type { Principal } from '../../../accounts/people/principal.ts';
import { instant, nullable, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import { encodeToken, tokenSchema } from '../admin-tokens/admin-token-operations.ts';

export type DeviceSignInServices = {
  readonly deviceSignIns: DeviceSignIns;
  /** The address of the console, without a slash at its end. */
  readonly consoleUrl: () => string;
};
type Context = AdminContext<DeviceSignInServices>;

const secondsMax = 90 * 86_400;
const params = record({ user_code: Type.String({ maxLength: 64 }) });
const permissionList = Type.Array(Type.Enum(permissions), { maxItems: permissions.length });

/** The names of the answer are those of RFC 8628, so that its clients need no translation. */
export const createSignIn = operation({
  id: 'device_sign_ins.create',
  method: 'POST',
  path: '/device_sign_ins',
  summary: 'Begins the sign-in of a command line on another machine',
  access: 'anybody',
  status: 201,
  body: request({
    client_name: Type.String({ minLength: 1, maxLength: 256, description: 'What the machine calls itself; its token gets this name.' }),
    permissions: Type.Optional(
      Type.Array(Type.Enum(permissions), {
        minItems: 1,
        maxItems: permissions.length,
        description: 'The permissions to ask for; without this all that need no recent sign-in.',
      }),
    ),
    lasts_s: Type.Optional(
      Type.Integer({ minimum: 60, maximum: secondsMax, description: 'Seconds until its token expires; 90 days unless given.' }),
    ),
  }),
  reply: record({
    device_code: Type.String({ description: 'The secret of the machine. Shown here once.' }),
    user_code: Type.String({ examples: ['BCDFG-HJKLM'] }),
    verification_uri: Type.String({ description: 'Where a person approves.' }),
    verification_uri_complete: Type.String({ description: 'The same with the code, in the fragment, which no server logs.' }),
    expires_in: Type.Integer({ description: 'Seconds until both codes expire.' }),
    interval: Type.Integer({ description: 'The least seconds between two polls.' }),
  }),
  handle: async ({ body }, { services, principal, nowMs }: Context) => {
    const { client_name: clientName, permissions: asked, lasts_s } = body;
    const wanted = {
      clientName,
      ...(asked !== undefined && { permissions: asked }),
      ...(lasts_s !== undefined && { lastsMs: lasts_s * 1000 }),
    };
    const begun = await services.deviceSignIns.begin(wanted, principal.author);
    if ('retryAfterSeconds' in begun) throw tooMany(begun);
    const address = `${services.consoleUrl()}/#device`;
    return {
      body: {
        device_code: begun.deviceCode,
        user_code: begun.userCode,
        verification_uri: address,
        verification_uri_complete: `${address}=${begun.userCode}`,
        expires_in: Math.round((begun.expiresAtMs - nowMs()) / 1000),
        interval: begun.intervalMs / 1000,
      },
    };
  },
});

const signInSchema = record(
  {
    id: Type.String(),
    client_name: Type.String({ description: 'What the machine calls itself. Anybody can claim any name.' }),
    address: nullable(Type.String({ description: 'From where it was begun, as the server sees it.' })),
    state: Type.Enum(['waiting', 'granted', 'denied']),
    asks_for: nullable(Type.Array(Type.Enum(permissions), { description: 'null: all that needs no recent sign-in.' })),
    permissions: Type.Array(Type.Enum(permissions), { description: 'The part of them that the caller has, and would give or has given.' }),
    users: nullable(Type.Array(Type.String(), { description: 'The users whose data it would see; null for all.' })),
    lasts_s: Type.Integer({ description: 'Seconds for which its token would last.' }),
    created_at: Type.String(),
    expires_at: Type.String({ description: 'Until when it can be approved.' }),
  },
  'The sign-in of a command line on another machine.',
);

function encodeSignIn({ signIn, grant }: OpenDeviceSignIn) {
  return {
    id: signIn.id,
    client_name: signIn.clientName,
    address: signIn.address ?? null,
    state: signIn.state,
    asks_for: signIn.permissions === undefined ? null : [...signIn.permissions],
    permissions: [...grant.permissions],
    users: grant.users === 'all' ? null : [...grant.users],
    lasts_s: Math.round(signIn.lastsMs / 1000),
    created_at: instant(signIn.createdAtMs),
    expires_at: instant(signIn.expiresAtMs),
  };
}

/**
 * A person, or a local command. A token must not make tokens that outlive it, and a key is not a person.
 * @throws AdminProblem `permission_required`
 */
function requirePerson({ personId, author }: Principal): void {
  if (personId !== undefined || author.via === 'cli') return;
  throw new AdminProblem('permission_required', 'Only a person decides about the sign-in of a machine: sign in to the console.');
}

const unknownCode = (): AdminProblem => notFound('sign-in with this code; it may have expired');

function tooMany({ retryAfterSeconds }: DeviceLimit): AdminProblem {
  return new AdminProblem('too_many_requests', `Too many attempts. Try again in ${retryAfterSeconds} s.`, {
    headers: { 'retry-after': String(retryAfterSeconds) },
  });
}

/** The outcome of a decision. @throws AdminProblem if there was none */
function decided<Outcome extends object | string>(
  outcome: Outcome | 'decided' | undefined | DeviceLimit,
): Exclude<Outcome, 'decided' | DeviceLimit> {
  if (outcome === undefined) throw unknownCode();
  if (outcome === 'decided') throw new AdminProblem('conflict', 'This sign-in was approved or refused before.');
  if (typeof outcome === 'object' && 'retryAfterSeconds' in outcome) throw tooMany(outcome);
  return outcome as Exclude<Outcome, 'decided' | DeviceLimit>;
}

export const getSignIn = operation({
  id: 'device_sign_ins.get',
  method: 'GET',
  path: '/device_sign_ins/{user_code}',
  summary: 'What asks to be signed in, and what it would get: to be compared before it is approved',
  access: 'signed-in',
  params,
  reply: signInSchema,
  handle: async (input, { services, principal }: Context) => {
    requirePerson(principal);
    return { body: encodeSignIn(decided(await services.deviceSignIns.find(input.params.user_code, principal, principal.author))) };
  },
});

export const approveSignIn = operation({
  id: 'device_sign_ins.approve',
  method: 'POST',
  path: '/device_sign_ins/{user_code}/approve',
  summary: 'Gives the machine an admin token with a part of your own permissions',
  access: 'signed-in',
  recentSignIn: true,
  params,
  body: request({
    permissions: Type.Optional({
      ...permissionList,
      description: 'A part of your own. Default: those that the machine asks for, as far as you have them.',
    }),
    users: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1000 })),
  }),
  reply: signInSchema,
  handle: async ({ params: { user_code }, body }, { services, principal }: Context) => {
    requirePerson(principal);
    return { body: encodeSignIn(decided(await services.deviceSignIns.approve(user_code, body, principal, principal.author))) };
  },
});

export const denySignIn = operation({
  id: 'device_sign_ins.deny',
  method: 'POST',
  path: '/device_sign_ins/{user_code}/deny',
  summary: 'Refuses the machine',
  access: 'signed-in',
  status: 204,
  params,
  handle: async ({ params: { user_code } }, { services, principal }: Context): Promise<Answer<undefined>> => {
    requirePerson(principal);
    decided(await services.deviceSignIns.deny(user_code, principal, principal.author));
    return { body: undefined };
  },
});

export const fetchToken = operation({
  id: 'device_sign_ins.token',
  method: 'POST',
  path: '/device_sign_ins/token',
  summary: 'The token of the machine, once, after a person has approved',
  access: 'anybody',
  body: request({ device_code: Type.String({ minLength: 1, maxLength: 100 }) }),
  reply: record({
    access_token: Type.String({ description: 'The secret of the admin token. Shown here once: at-weir-….' }),
    token_type: Type.Literal('Bearer'),
    expires_in: Type.Integer({ description: 'Seconds until the token expires.' }),
    token: tokenSchema,
  }),
  handle: async ({ body }, { services, principal, nowMs }: Context) => {
    const polled = await services.deviceSignIns.poll(body.device_code, principal.author);
    if ('retryAfterSeconds' in polled) throw tooMany(polled);
    if (polled.state !== 'granted') throw refusePoll(polled);
    const { token, secret } = polled;
    const expiresIn = Math.round((token.expiresAtMs - nowMs()) / 1000);
    return { body: { access_token: secret, token_type: 'Bearer' as const, expires_in: expiresIn, token: encodeToken(token) } };
  },
});

function refusePoll(polled: Exclude<Awaited<ReturnType<DeviceSignIns['poll']>>, { state: 'granted' } | DeviceLimit>): AdminProblem {
  switch (polled.state) {
    case 'waiting':
      return new AdminProblem('authorization_pending', 'Nobody has approved yet: ask again after the interval.');
    case 'too-soon': {
      const seconds = polled.intervalMs / 1000;
      const members = { interval: seconds };
      return new AdminProblem('slow_down', `Too soon: from now on wait ${seconds} s between two requests.`, { members });
    }
    case 'denied':
      return new AdminProblem('access_denied', 'The sign-in was refused.');
    case 'unknown':
      return new AdminProblem('expired_token', 'The device code is unknown, was used, or has expired: begin again.');
  }
}

export const deviceSignInOperations: readonly Operation<DeviceSignInServices>[] = [
  createSignIn,
  getSignIn,
  approveSignIn,
  denySignIn,
  fetchToken,
];
