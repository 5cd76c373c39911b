import { Type } from 'typebox';

import { maySee, type Principal } from '../../../accounts/people/principal.ts';
import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import {
  type CommonAccount,
  commonAccounts,
  type CreditBooks,
  type LedgerTransaction,
  type NewTransaction,
  transactionIdOf,
  verifyStart,
} from '../../../billing/credits/credit-books.ts';
import type { LeaseStore } from '../../../billing/credits/credit-store.ts';
import { paidBy, type PotOwner } from '../../../billing/credits/pots.ts';
import { parseUsd } from '../../../billing/credits/parse-usd.ts';
import type { LedgerStore } from '../../../billing/ledger/ledger-store.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { instant, moneySchema, nullable, optionalInstant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { AdminProblem, invalidField, notFound } from '../../problem.ts';

export type CreditServices = {
  readonly credits: CreditBooks & Pick<LeaseStore, 'releaseCreditNode'>;
  readonly ledger: Pick<LedgerStore, 'findEntry'>;
  readonly accounts: Pick<AccountsStore, 'listUsers'>;
};
type Context = AdminContext<CreditServices>;

const transactionKinds = ['usage', 'top_up', 'promo', 'correction', 'refund', 'write_off'] as const;
const transactionSchema = record({
  id: Type.String(),
  kind: Type.Enum(transactionKinds),
  amount: moneySchema,
  posted_at: Type.String(),
  day: nullable(Type.String({ description: 'Of usage: the day (UTC) on which its calls were accepted.' })),
  key_id: nullable(Type.String()),
  call_id: nullable(Type.String()),
  actor: nullable(Type.String()),
  note: nullable(Type.String()),
});

const encodeTransaction = (transaction: LedgerTransaction) => ({
  id: transaction.transactionId,
  kind: transaction.kind,
  amount: formatMoney(transaction.amountNanoUsd),
  posted_at: instant(transaction.postedAtMs),
  day: transaction.day ?? null,
  key_id: transaction.keyId ?? null,
  call_id: transaction.callId ?? null,
  actor: transaction.actor ?? null,
  note: transaction.note ?? null,
});

const ofUser = (userName: string): PotOwner => ({ level: 'user', userName });

const nameParams = record({ name: Type.String({ maxLength: 256 }) });
const rowsMax = 500;

/** The name of a user that exists and may be seen. @throws AdminProblem `not_found` */
async function findUser(services: CreditServices, principal: Principal, name: string): Promise<string> {
  const userName = name.normalize('NFC');
  const exists = maySee(principal.users, userName) && (await services.accounts.listUsers()).some((user) => user.name === userName);
  if (!exists) throw notFound('user of this name');
  return userName;
}

const balanceMembers = {
  user: Type.String(),
  balance: moneySchema,
  leased: { ...moneySchema, description: 'The part of the balance that gateways have leased and not booked.' },
  videos: { ...moneySchema, description: 'The holds of unfinished videos.' },
};
const balanceSchema = record(balanceMembers);

const listBalances = operation({
  id: 'credits.balances',
  method: 'GET',
  path: '/credits/balances',
  summary: 'The balances of all users that the caller may see, by name',
  access: 'credits:read',
  query: record({ user: Type.Optional(Type.String({ maxLength: 256 })) }),
  reply: pageSchema(balanceSchema),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const { users } = principal;
    const named = query.user === undefined ? undefined : await findUser(services, principal, query.user);
    const rows =
      named !== undefined || users === 'all'
        ? await services.credits.readBalances({ limit: 10_000, ...(named !== undefined && { owner: ofUser(named) }) })
        : (await Promise.all(users.map((userName) => services.credits.readBalances({ limit: 1, owner: ofUser(userName) })))).flat();
    const items = rows.map((row) => ({
      user: row.owner.level === 'user' ? row.owner.userName : '',
      balance: formatMoney(row.balanceNanoUsd),
      leased: formatMoney(row.leasedNanoUsd),
      videos: formatMoney(row.videosNanoUsd),
    }));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

const listTransactions = operation({
  id: 'credits.transactions',
  method: 'GET',
  path: '/users/{name}/transactions',
  summary: 'The postings to the account of a user, newest first',
  access: 'credits:read',
  params: nameParams,
  query: record({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: rowsMax })) }),
  reply: pageSchema(transactionSchema),
  handle: async ({ params, query }, { services, principal, nowMs }: Context) => {
    const userName = await findUser(services, principal, params.name);
    const rows = await services.credits.listTransactions({ owner: ofUser(userName), limit: query.limit ?? 50 });
    return { body: { items: rows.map(encodeTransaction), next_cursor: null, as_of: instant(nowMs()) } };
  },
});

type Posting = Pick<NewTransaction, 'kind' | 'against' | 'amountNanoUsd' | 'owner'> & {
  readonly reference: string;
  readonly note: string | undefined;
  readonly callId?: string;
};

const postedSchema = record({
  id: Type.String(),
  repeated: Type.Boolean({ description: 'The same transaction was posted before; nothing was posted now.' }),
  amount: moneySchema,
  balance: moneySchema,
});

async function post({ services, principal, change }: Context, { reference, note, ...posting }: Posting) {
  const transactionId = transactionIdOf({ kind: posting.kind, owner: posting.owner, reference });
  const now = { ...change(), ...(note !== undefined && { note }) };
  const transaction = {
    ...posting,
    transactionId,
    postedAtMs: now.atMs,
    actor: principal.author.actor,
    ...(note !== undefined && { note }),
  };
  const { status, balanceNanoUsd } = await services.credits.postTransaction(transaction, now);
  if (status === 'conflict')
    throw new AdminProblem('conflict', `The reference ${reference} was used for another amount; choose one for each payment.`);
  const body = {
    id: transactionId,
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

const createTransaction = operation({
  id: 'credits.post',
  method: 'POST',
  path: '/users/{name}/transactions',
  summary: 'Adds a payment, free credit or a correction to the balance of a user',
  access: 'credits:write',
  recentSignIn: true,
  keyRequired: true,
  status: 201,
  params: nameParams,
  body: request({
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
  }),
  reply: postedSchema,
  handle: async ({ params, body }, context: Context) => {
    const userName = await findUser(context.services, context.principal, params.name);
    const amountNanoUsd = parseUsd(body.usd);
    if (amountNanoUsd === undefined || amountNanoUsd === 0n || (amountNanoUsd < 0n && body.kind !== 'correct'))
      throw invalidField('/usd', 'amount', 'The field usd must be an amount such as 25 or 0.5; only a correction may be negative.');
    const books = kinds[body.kind];
    const against: CommonAccount = body.kind === 'correct' ? (body.against ?? books.against) : books.against;
    return await post(context, { ...books, against, owner: ofUser(userName), amountNanoUsd, reference: body.reference, note: body.note });
  },
});

const refundCall = operation({
  id: 'credits.refund',
  method: 'POST',
  path: '/calls/{id}/refund',
  summary: 'Refunds the cost of a call, once; the call stays in the statistics',
  access: 'credits:write',
  recentSignIn: true,
  keyRequired: true,
  status: 201,
  params: record({ id: Type.String({ maxLength: 200 }) }),
  body: request({ note: Type.Optional(Type.String({ maxLength: 1000 })) }),
  reply: postedSchema,
  handle: async ({ params, body }, context: Context) => {
    const entry = await context.services.ledger.findEntry(params.id);
    if (entry === undefined || !maySee(context.principal.users, entry.userName)) throw notFound('call of this id in the books');
    const { charge } = entry;
    if (charge.amountNanoUsd === 0n) throw new AdminProblem('conflict', 'The call cost nothing, so there is nothing to refund.');
    const refund = {
      kind: 'refund',
      against: 'revenue',
      owner: paidBy({ ...entry, teamId: entry.team?.id }),
      amountNanoUsd: charge.amountNanoUsd,
    } as const;
    return await post(context, { ...refund, reference: params.id, callId: params.id, note: body.note });
  },
});

const listLeases = operation({
  id: 'credits.leases',
  method: 'GET',
  path: '/credits/leases',
  summary: 'The amounts that gateway processes have leased for calls',
  access: 'upstreams:read',
  reply: pageSchema(
    record({ node: Type.String(), pot: Type.String(), user: Type.String(), leased: moneySchema, seen_at: nullable(Type.String()) }),
  ),
  handle: async (_input, { services, nowMs }: Context) => {
    const items = (await services.credits.listLeases()).map((lease) => ({
      node: lease.nodeId,
      pot: lease.potId,
      user: lease.userName,
      leased: formatMoney(lease.leasedNanoUsd),
      seen_at: optionalInstant(lease.seenAtMs),
    }));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

/** A process that was seen in this time may still run. */
const livesForMs = 60_000;

const releaseNode = operation({
  id: 'credits.release_node',
  method: 'POST',
  path: '/credits/nodes/{id}/release',
  summary: 'Releases the leases of a process that will never return',
  access: 'credits:write',
  recentSignIn: true,
  params: record({ id: Type.String({ maxLength: 200 }) }),
  body: request({ force: Type.Optional(Type.Boolean({ description: 'Also if the process was seen in the last minute.' })) }),
  reply: record({ released: Type.Integer() }),
  handle: async ({ params, body }, { services, nowMs, change }: Context) => {
    const own = (await services.credits.listLeases()).filter((lease) => lease.nodeId === params.id);
    if (own.length === 0) throw notFound('node of this id with leases');
    const seenAtMs = Math.max(...own.map((lease) => lease.seenAtMs ?? 0));
    if (body.force !== true && nowMs() - seenAtMs < livesForMs)
      throw new AdminProblem('conflict', 'The node was seen less than a minute ago: stop it and wait a minute, or use force.');
    return { body: { released: await services.credits.releaseCreditNode({ nodeId: params.id, change: change() }) } };
  },
});

const verifyRows = 1000;
const problemsMax = 100;

const verifyBooks = operation({
  id: 'credits.verify',
  method: 'POST',
  path: '/credits/verifications',
  summary: 'Recomputes all balances and sums',
  access: 'credits:read',
  reply: record({
    checked: Type.Integer(),
    adds_up: Type.Boolean(),
    problems: Type.Array(record({ user: nullable(Type.String()), what: Type.String() }), { description: `At most ${problemsMax}.` }),
  }),
  handle: async (_input, { services, principal, signal }: Context) => {
    let checked = 0;
    const problems: { user: string | null; what: string }[] = [];
    for (let cursor = verifyStart; ;) {
      signal.throwIfAborted();
      const slice = await services.credits.verifyBooks({ cursor, limit: verifyRows });
      checked += slice.checked;
      problems.push(
        ...slice.problems.map(({ accountId, what }) => ({
          user: accountId?.startsWith('user:') === true ? accountId.slice(5) : null,
          what,
        })),
      );
      if (slice.next === undefined) break;
      cursor = slice.next;
    }
    const visible = problems.filter(({ user }) => principal.users === 'all' || (user !== null && maySee(principal.users, user)));
    return { body: { checked, adds_up: problems.length === 0, problems: visible.slice(0, problemsMax) } };
  },
});

export const creditOperations: readonly Operation<CreditServices>[] = [
  listBalances,
  listTransactions,
  createTransaction,
  refundCall,
  listLeases,
  releaseNode,
  verifyBooks,
];
