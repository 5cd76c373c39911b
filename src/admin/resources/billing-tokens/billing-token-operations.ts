import { type Static, Type } from 'typebox';

import type { BillingToken } from '../../../accounts/api-key.ts';
import type { Accounts } from '../../../accounts/create-accounts.ts';
import { maySee } from '../../../accounts/people/principal.ts';
import type { ChangeAuthor } from '../../../audit/change-author.ts';
import { instant, instantQuery, nullable, optionalInstant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Answer, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';

/** Accounts whose changes have this author. */
export type BillingTokenServices = { readonly accountsBy: (author: ChangeAuthor) => Accounts };
type Context = AdminContext<BillingTokenServices>;

const tokenMembers = {
  id: Type.String(),
  name: Type.String(),
  user: nullable(Type.String({ description: 'The token sees only the calls of this user; null for all.' })),
  created_at: Type.String(),
  expires_at: nullable(Type.String()),
  previous_until: nullable(Type.String({ description: 'Until when the secret before the last rotation works.' })),
  last_used_at: nullable(Type.String({ description: 'To about a minute.' })),
};
const tokenSchema = record(tokenMembers, 'A credential of the monitor service.');
const createdSchema = record({ ...tokenMembers, secret: Type.String({ description: 'Shown here once: bt-weir-….' }) });

const encodeToken = (token: BillingToken): Static<typeof tokenSchema> => ({
  id: token.id,
  name: token.name,
  user: token.userName ?? null,
  created_at: instant(token.createdAtMs),
  expires_at: optionalInstant(token.expiresAtMs),
  previous_until: optionalInstant(token.previousOpensUntilMs),
  last_used_at: optionalInstant(token.lastUsedAtMs),
});

const idParams = record({ id: Type.String({ maxLength: 64 }) });
const secondsMax = 10 * 365 * 86_400;
const restricted = { access: 'tokens:write', recentSignIn: true } as const;

/** A token that the caller may see. @throws AdminProblem `not_found` */
async function find({ services, principal }: Context, id: string): Promise<BillingToken> {
  const tokens = await services.accountsBy(principal.author).listBillingTokens();
  const token = tokens.find((each) => each.id === id && isVisible(each, principal.users));
  if (token === undefined) throw notFound('billing token of this id');
  return token;
}

/** A token that sees all users is seen only by callers that see all users. */
function isVisible({ userName }: BillingToken, users: Context['principal']['users']): boolean {
  return users === 'all' || (userName !== undefined && maySee(users, userName));
}

export const listTokens = operation({
  id: 'billing_tokens.list',
  method: 'GET',
  path: '/billing_tokens',
  summary: 'The billing tokens of the monitor, oldest first',
  access: 'tokens:write',
  reply: pageSchema(tokenSchema),
  handle: async (_input, { services, principal, nowMs }: Context) => {
    const tokens = (await services.accountsBy(principal.author).listBillingTokens()).filter((token) => isVisible(token, principal.users));
    return { body: { items: tokens.map(encodeToken), next_cursor: null, as_of: instant(nowMs()) } };
  },
});

export const createToken = operation({
  id: 'billing_tokens.create',
  method: 'POST',
  path: '/billing_tokens',
  summary: 'Makes a billing token, and shows its secret once',
  ...restricted,
  status: 201,
  body: request({
    name: Type.String({ minLength: 1, maxLength: 256 }),
    user: Type.Optional(Type.String({ minLength: 1, maxLength: 256, description: 'Sees only the calls of this user.' })),
    expires_at: Type.Optional(instantQuery('In the future.')),
  }),
  reply: createdSchema,
  handle: async ({ body }, { services, principal, change }: Context) => {
    const { name, user, expires_at } = body;
    if (user === undefined ? principal.users !== 'all' : !maySee(principal.users, user.normalize('NFC')))
      throw notFound('user of this name');
    const created = await services.accountsBy(change()).createBillingToken({
      name,
      ...(user !== undefined && { userName: user }),
      ...(expires_at !== undefined && { expiresAtMs: Date.parse(expires_at) }),
    });
    return { body: { ...encodeToken(created.token), secret: created.secret }, location: `/billing_tokens/${created.token.id}` };
  },
});

export const rotateToken = operation({
  id: 'billing_tokens.rotate',
  method: 'POST',
  path: '/billing_tokens/{id}/rotate',
  summary: 'Gives a token a new secret; the old one works for the overlap',
  ...restricted,
  params: idParams,
  body: request({ overlap_s: Type.Integer({ minimum: 0, maximum: secondsMax }) }),
  reply: createdSchema,
  handle: async ({ params, body }, context: Context) => {
    await find(context, params.id);
    const rotated = await context.services.accountsBy(context.change()).rotateBillingToken(params.id, body.overlap_s * 1000);
    if (rotated === undefined) throw notFound('billing token of this id');
    return { body: { ...encodeToken(rotated.token), secret: rotated.secret } };
  },
});

export const deleteToken = operation({
  id: 'billing_tokens.delete',
  method: 'DELETE',
  path: '/billing_tokens/{id}',
  summary: 'Ends a token',
  ...restricted,
  status: 204,
  params: idParams,
  handle: async ({ params }, context: Context): Promise<Answer<undefined>> => {
    await find(context, params.id);
    if (!(await context.services.accountsBy(context.change()).deleteBillingToken(params.id))) throw notFound('billing token of this id');
    return { body: undefined };
  },
});

export const billingTokenOperations: readonly Operation<BillingTokenServices>[] = [listTokens, createToken, rotateToken, deleteToken];
