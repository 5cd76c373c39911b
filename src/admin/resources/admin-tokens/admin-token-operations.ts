import { Type } from 'typebox';

import type { AdminToken } from '../../../accounts/people/admin-token.ts';
import type { AdminTokens, CreatedAdminToken } from '../../../accounts/people/admin-tokens.ts';
import { permissions } from '../../../accounts/people/permissions.ts';
import { instant, nullable, optionalInstant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';

export type AdminTokenServices = { readonly adminTokens: AdminTokens };
type Context = AdminContext<AdminTokenServices>;

const tokenMembers = {
  id: Type.String(),
  name: Type.String(),
  ends_in: Type.String({ description: 'The last characters of the secret.' }),
  permissions: Type.Array(Type.Enum(permissions)),
  users: nullable(Type.Array(Type.String(), { description: 'The users whose data is visible; null for all.' })),
  made_by: nullable(Type.String({ description: 'The id of a person; null for a local command.' })),
  created_at: Type.String(),
  expires_at: Type.String(),
  previous_until: nullable(Type.String({ description: 'Until when the secret before the last rotation works.' })),
  last_used_at: nullable(Type.String({ description: 'To about a minute.' })),
};
export const tokenSchema = record(tokenMembers, 'A credential of the admin API for programs.');
const createdSchema = record({ ...tokenMembers, secret: Type.String({ description: 'Shown here once: at-weir-….' }) });

export function encodeToken(token: AdminToken) {
  return {
    id: token.id,
    name: token.name,
    ends_in: token.hint,
    permissions: [...token.permissions],
    users: token.users === 'all' ? null : [...token.users],
    made_by: token.makerId ?? null,
    created_at: instant(token.createdAtMs),
    expires_at: instant(token.expiresAtMs),
    previous_until: optionalInstant(token.previousOpensUntilMs),
    last_used_at: optionalInstant(token.lastUsedAtMs),
  };
}

const answerCreated = ({ token, secret }: CreatedAdminToken) => ({ body: { ...encodeToken(token), secret }, version: token.revision });
const idParams = record({ id: Type.String({ maxLength: 64 }) });
const secondsMax = 10 * 365 * 86_400;
const restricted = { access: 'tokens:write', recentSignIn: true } as const;

export const listTokens = operation({
  id: 'admin_tokens.list',
  method: 'GET',
  path: '/admin_tokens',
  summary: 'All admin tokens, oldest first',
  access: 'tokens:write',
  reply: pageSchema(tokenSchema),
  handle: async (_input, { services, nowMs }: Context) => ({
    body: { items: (await services.adminTokens.list()).map(encodeToken), next_cursor: null, as_of: instant(nowMs()) },
  }),
});

export const createToken = operation({
  id: 'admin_tokens.create',
  method: 'POST',
  path: '/admin_tokens',
  summary: 'Makes an admin token, and shows its secret once',
  ...restricted,
  status: 201,
  body: request({
    name: Type.String({ minLength: 1, maxLength: 256 }),
    permissions: Type.Optional(
      Type.Array(Type.Enum(permissions), {
        maxItems: permissions.length,
        description: 'A part of your own; those that need a recent sign-in only if they are named. Default: yours without these.',
      }),
    ),
    users: Type.Optional(Type.Array(Type.String({ maxLength: 256 }), { maxItems: 1000 })),
    lasts_s: Type.Optional(
      Type.Integer({ minimum: 60, maximum: secondsMax, description: 'Seconds until it expires; 90 days unless given.' }),
    ),
  }),
  reply: createdSchema,
  handle: async ({ body }, { services, principal, change }: Context) => {
    const { lasts_s, ...token } = body;
    const created = await services.adminTokens.create(
      { ...token, ...(lasts_s !== undefined && { lastsMs: lasts_s * 1000 }) },
      principal,
      change(),
    );
    return { ...answerCreated(created), location: `/admin_tokens/${created.token.id}` };
  },
});

export const rotateToken = operation({
  id: 'admin_tokens.rotate',
  method: 'POST',
  path: '/admin_tokens/{id}/rotate',
  summary: 'Gives a token a new secret; the old one works for the overlap',
  ...restricted,
  params: idParams,
  body: request({ overlap_s: Type.Integer({ minimum: 0, maximum: secondsMax }) }),
  reply: createdSchema,
  handle: async ({ params, body }, { services, change }: Context) => {
    const rotated = await services.adminTokens.rotate({ id: params.id }, body.overlap_s * 1000, change());
    if (rotated === undefined) throw notFound('admin token of this id');
    return answerCreated(rotated);
  },
});

export const deleteToken = operation({
  id: 'admin_tokens.delete',
  method: 'DELETE',
  path: '/admin_tokens/{id}',
  summary: 'Ends a token',
  ...restricted,
  status: 204,
  params: idParams,
  handle: async ({ params }, { services, change }: Context): Promise<Answer<undefined>> => {
    if (!(await services.adminTokens.remove({ id: params.id }, change()))) throw notFound('admin token of this id');
    return { body: undefined };
  },
});

/** Not `{id}`: a program may end its own token without any other permission. */
export const revokeOwnToken = operation({
  id: 'admin_tokens.revoke_own',
  method: 'DELETE',
  path: '/admin_tokens/current',
  summary: 'Ends the token with which the request is made',
  access: 'signed-in',
  status: 204,
  handle: async (_input, { services, principal, change }: Context): Promise<Answer<undefined>> => {
    const { tokenId } = principal;
    if (tokenId === undefined || !(await services.adminTokens.remove({ id: tokenId }, change())))
      throw new AdminProblem('not_found', 'The request is not made with an admin token; DELETE /api/v1/session ends a session.');
    return { body: undefined };
  },
});

export const adminTokenOperations: readonly Operation<AdminTokenServices>[] = [
  listTokens,
  createToken,
  rotateToken,
  revokeOwnToken,
  deleteToken,
];
