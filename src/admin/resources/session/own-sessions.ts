import { Type } from 'typebox';

import type { Principal } from '../../../accounts/people/principal.ts';
import { type Session, signInWays } from '../../../accounts/people/session.ts';
import type { Sessions } from '../../../accounts/people/sessions.ts';
import { instant, nullable, pageSchema, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';

type OwnSessionServices = { readonly sessions: Pick<Sessions, 'list' | 'end'> };
type Context = AdminContext<OwnSessionServices>;

/** Where a person is signed in. */
export const openSessionSchema = record({
  id: Type.String(),
  way: Type.Enum(signInWays),
  created_at: Type.String(),
  signed_in_at: Type.String(),
  used_at: Type.String({ description: 'To about a minute.' }),
  expires_at: Type.String(),
  address: nullable(Type.String()),
  user_agent: nullable(Type.String()),
  is_present: Type.Boolean({ description: 'The session of this request.' }),
});

/** @param presentId the session of the request */
export const encodeSession = (session: Session, presentId: string | undefined) => ({
  id: session.id,
  way: session.way,
  created_at: instant(session.createdAtMs),
  signed_in_at: instant(session.signedInAtMs),
  used_at: instant(session.usedAtMs),
  expires_at: instant(session.expiresAtMs),
  address: session.address ?? null,
  user_agent: session.userAgent ?? null,
  is_present: session.id === presentId,
});

/** The present session of a person. @throws AdminProblem `not_found` for keys and tokens, which have none */
export function ownSession(principal: Principal): { readonly personId: string; readonly sessionId: string } {
  const { personId, sessionId } = principal;
  if (personId === undefined || sessionId === undefined)
    throw new AdminProblem('not_found', 'Only a person has such a session: a key or token signs in again.');
  return { personId, sessionId };
}

const listOwn = operation({
  id: 'sessions.list',
  method: 'GET',
  path: '/sessions',
  summary: 'Where the person who asks is signed in, newest first',
  access: 'signed-in',
  reply: pageSchema(openSessionSchema),
  handle: async (_input, { services, principal, nowMs }: Context) => {
    const { personId, sessionId } = ownSession(principal);
    const items = (await services.sessions.list(personId)).map((session) => encodeSession(session, sessionId));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

const endOwn = operation({
  id: 'sessions.end',
  method: 'DELETE',
  path: '/sessions/{id}',
  summary: 'Ends one session of the person who asks: a browser that was lost, or left open',
  access: 'signed-in',
  status: 204,
  params: record({ id: Type.String({ maxLength: 64 }) }),
  handle: async ({ params }, { services, principal }: Context): Promise<Answer<undefined>> => {
    const { personId, sessionId } = ownSession(principal);
    const ended = await services.sessions.end({ personId, sessionId: params.id }, principal.author);
    if (ended === 0) throw notFound('session of this id');
    return { body: undefined, ...(params.id === sessionId && { session: 'end' }) };
  },
});

/** Everybody sees and ends their own sessions. */
export const ownSessionOperations: readonly Operation<OwnSessionServices>[] = [listOwn, endOwn];
