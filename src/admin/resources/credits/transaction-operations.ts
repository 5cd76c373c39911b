import { type Static, Type } from 'typebox';

import { maySee } from '../../../accounts/people/principal.ts';
import { type CommonAccount, commonAccounts, type NewTransaction, transactionIdOf } from '../../../billing/credits/credit-books.ts';
import { parseUsd } from '../../../billing/credits/parse-usd.ts';
import { paidBy, type PotOwner } from '../../../billing/credits/pots.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { instant, moneySchema, nullable, pageQuery, pageRowsDefault, pageSchema, record, request } from '../../contract/values.ts';
import type { Operation } from '../../operation.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';
import { cutPage } from '../cut-page.ts';
import { readPosition } from '../read-position.ts';
import { booksOperation, type Freshness } from '../books-operation.ts';
import { type CreditContext, type CreditServices, findOrganization, type FindOwner, findTeam, findUser, nameOwner } from './find-owner.ts';
import { encodeTransaction, transactionSchema } from './transaction-schema.ts';

/** A page may have a whole history, for programs that want it at once. */
const rowsMax = 9999;
const positionSchema = Type.Object({ postedAtMs: Type.Number(), transactionId: Type.String() });

type Posting = Pick<NewTransaction, 'kind' | 'against' | 'amountNanoUsd' | 'owner'> & {
  readonly reference: string;
  readonly note: string | undefined;
  readonly callId?: string;
};

const postedSchema = record({
  id: Type.String(),
  level: Type.Enum(['organization', 'team', 'user'], { description: 'Whose balance it is.' }),
  user: nullable(Type.String()),
  team: nullable(Type.String()),
  repeated: Type.Boolean({ description: 'The same transaction was posted before; nothing was posted now.' }),
  amount: moneySchema,
  balance: moneySchema,
});

async function post({ services, principal, change }: CreditContext, { reference, note, ...posting }: Posting) {
  const transactionId = transactionIdOf({ kind: posting.kind, owner: posting.owner, reference });
  const now = { ...change(), ...(note !== undefined && { note }) };
  const transaction = {
    ...posting,
    transactionId,
    formerId: `${posting.kind}:${reference}`,
    postedAtMs: now.atMs,
    actor: principal.author.actor,
    ...(note !== undefined && { note }),
  };
  const { status, balanceNanoUsd } = await services.credits.postTransaction(transaction, now);
  if (status === 'conflict')
    throw new AdminProblem('conflict', `The reference ${reference} was used for another amount; choose one for each payment.`);
  const body = {
    id: transactionId,
    ...(await nameOwner(services, posting.owner)),
    repeated: status === 'known',
    amount: formatMoney(posting.amountNanoUsd),
    balance: formatMoney(balanceNanoUsd),
  };
  return { body };
}

const kinds = {
  top_up: { kind: 'top_up', against: 'deposits' },
  grant: { kind: 'promo', against: 'promo' },
  correct: { kind: 'correction', against: 'suspense' },
} as const;

const postingSchema = request({
  kind: Type.Enum(['top_up', 'grant', 'correct']),
  usd: Type.String({
    maxLength: 40,
    description: 'USD with at most nine decimals; negative only in a correction.',
    examples: ['25', '0.5'],
  }),
  reference: Type.String({
    minLength: 1,
    maxLength: 200,
    description: 'Your id of the payment. A second posting with it changes nothing.',
  }),
  note: Type.Optional(Type.String({ maxLength: 1000 })),
  against: Type.Optional(Type.Enum(commonAccounts, { description: 'The other side of a correction; `suspense` unless given.' })),
});

async function postTo(context: CreditContext, owner: PotOwner, body: Static<typeof postingSchema>) {
  const amountNanoUsd = parseUsd(body.usd);
  if (amountNanoUsd === undefined || amountNanoUsd === 0n || (amountNanoUsd < 0n && body.kind !== 'correct'))
    throw invalidField('/usd', 'amount', 'The field usd must be an amount such as 25 or 0.5; only a correction may be negative.');
  const books = kinds[body.kind];
  const against: CommonAccount = body.kind === 'correct' ? (body.against ?? books.against) : books.against;
  return await post(context, { ...books, against, owner, amountNanoUsd, reference: body.reference, note: body.note });
}

type List = { items: Static<typeof transactionSchema>[]; next_cursor: string | null } & Freshness;
type Owned<Query, Body, Reply> = Operation<CreditServices, { readonly name?: string }, Query, Body, Reply>;

/** The operations on the account of an owner: its postings, and a further one. */
export type AccountOperations = {
  readonly list: Owned<{ readonly limit?: number; readonly cursor?: string }, unknown, List>;
  readonly post: Owned<object, Static<typeof postingSchema>, Static<typeof postedSchema> & Freshness>;
};

/** @param path of the owner */
function transactionsOf(owner: {
  readonly listId: string;
  readonly postId: string;
  readonly path: string;
  readonly whose: string;
  readonly find: FindOwner;
}): AccountOperations {
  const isNamed = owner.path.includes('{name}');
  const params = isNamed ? { params: record({ name: Type.String({ maxLength: 256 }) }) } : {};
  const find = (context: CreditContext, given: object): Promise<PotOwner> =>
    owner.find(context, 'name' in given && typeof given.name === 'string' ? given.name : '');
  return {
    list: booksOperation({
      id: owner.listId,
      method: 'GET',
      path: `${owner.path}/transactions`,
      summary: `The postings to the account of ${owner.whose}, newest first`,
      access: 'credits:read',
      ...params,
      query: record({
        ...pageQuery,
        limit: Type.Optional(Type.Integer({ minimum: 1, maximum: rowsMax, description: 'The most postings of a page; 50 unless given.' })),
      }),
      reply: pageSchema(transactionSchema),
      handle: async ({ params: given, query }, context: CreditContext) => {
        const { services, nowMs } = context;
        const found = await find(context, given);
        const { limit = pageRowsDefault, cursor } = query;
        const question = { list: 'transactions', owner: found };
        const rows = await services.credits.listTransactions({
          owner: found,
          ...(cursor !== undefined && { after: readPosition(positionSchema, services.cursors.read(question, cursor)) }),
          limit: limit + 1,
        });
        const { shown, next_cursor } = cutPage(rows, limit, ({ postedAtMs, transactionId }) =>
          services.cursors.write(question, { postedAtMs, transactionId }),
        );
        return { body: { items: shown.map(encodeTransaction), next_cursor, as_of: instant(nowMs()) } };
      },
    }),
    post: booksOperation({
      id: owner.postId,
      method: 'POST',
      path: `${owner.path}/transactions`,
      summary: `Adds a payment, free credit or a correction to the balance of ${owner.whose}`,
      access: 'credits:write',
      recentSignIn: true,
      keyRequired: true,
      status: 201,
      ...params,
      body: postingSchema,
      reply: postedSchema,
      handle: async ({ params: given, body }, context: CreditContext) => await postTo(context, await find(context, given), body),
    }),
  };
}

export const refundCall = booksOperation({
  id: 'credits.refund',
  method: 'POST',
  path: '/calls/{id}/refund',
  summary: 'Refunds the cost of a call, once, to the balance that paid; the call stays in the statistics',
  access: 'credits:write',
  recentSignIn: true,
  keyRequired: true,
  status: 201,
  params: record({ id: Type.String({ maxLength: 200 }) }),
  body: request({ note: Type.Optional(Type.String({ maxLength: 1000 })) }),
  reply: postedSchema,
  handle: async ({ params, body }, context: CreditContext) => {
    const entry = await context.services.ledger.findEntry(params.id);
    if (entry === undefined || !maySee(context.principal.users, entry.userName)) throw notFound('call of this id in the books');
    const { charge, userName, keyId, team, payer } = entry;
    if (charge.amountNanoUsd === 0n) throw new AdminProblem('conflict', 'The call cost nothing, so there is nothing to refund.');
    const owner = paidBy({ userName, keyId, teamId: team?.id, payer });
    const refund = { kind: 'refund', against: 'revenue', owner, amountNanoUsd: charge.amountNanoUsd } as const;
    return await post(context, { ...refund, reference: params.id, callId: params.id, note: body.note });
  },
});

export const userAccount = transactionsOf({
  listId: 'credits.transactions',
  postId: 'credits.post',
  path: '/users/{name}',
  whose: 'a user',
  find: findUser,
});
export const teamAccount = transactionsOf({
  listId: 'credits.team_transactions',
  postId: 'credits.post_team',
  path: '/teams/{name}',
  whose: 'a team',
  find: findTeam,
});
export const organizationAccount = transactionsOf({
  listId: 'credits.organization_transactions',
  postId: 'credits.post_organization',
  path: '/organization',
  whose: 'the organization',
  find: findOrganization,
});

export const transactionOperations: readonly Operation<CreditServices>[] = [
  ...[userAccount, teamAccount, organizationAccount].flatMap(({ list, post: add }) => [list, add]),
  refundCall,
];
