import { Type } from 'typebox';

import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { instant, moneySchema, nullable, optionalInstant, pageSchema, record, request } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { Operation } from '../../operation.ts';
import { AdminProblem, notFound } from '../../problem.ts';
import { booksOperation } from '../books-operation.ts';
import { type CreditContext, findUser } from './find-owner.ts';
import { statementOperations, type StatementServices } from './statement-operations.ts';
import { transactionOperations } from './transaction-operations.ts';
import { verificationOperations } from './verification-operations.ts';

const balanceSchema = record({
  level: Type.Enum(['organization', 'team', 'user']),
  user: nullable(Type.String()),
  team: nullable(Type.String({ description: 'The name of the team; the id of a team that was deleted.' })),
  balance: moneySchema,
  leased: { ...moneySchema, description: 'The part of the balance that gateways have leased and not booked.' },
  videos: { ...moneySchema, description: 'The holds of unfinished videos.' },
});

export const listBalances = booksOperation({
  id: 'credits.balances',
  method: 'GET',
  path: '/credits/balances',
  summary: 'The balances that the caller may see: of the organization, teams and users, in this order',
  access: 'credits:read',
  query: record({ user: Type.Optional(Type.String({ maxLength: 256 })) }),
  reply: pageSchema(balanceSchema),
  handle: async ({ query }, context: CreditContext) => {
    const { services, principal, nowMs } = context;
    const { users } = principal;
    const named = query.user === undefined ? undefined : await findUser(context, query.user);
    const rows =
      named !== undefined || users === 'all'
        ? await services.credits.readBalances({ limit: 10_000, ...(named !== undefined && { owner: named }) })
        : (
            await Promise.all(users.map((userName) => services.credits.readBalances({ limit: 1, owner: { level: 'user', userName } })))
          ).flat();
    const teams = new Map((await services.accounts.listTeams()).map(({ id, name }) => [id, name]));
    const items = rows.map(({ owner, ...row }) => ({
      level: owner.level,
      user: owner.level === 'user' ? owner.userName : null,
      team: owner.level === 'team' ? (teams.get(owner.teamId) ?? owner.teamId) : null,
      balance: formatMoney(row.balanceNanoUsd),
      leased: formatMoney(row.leasedNanoUsd),
      videos: formatMoney(row.videosNanoUsd),
    }));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

export const listLeases = booksOperation({
  id: 'credits.leases',
  method: 'GET',
  path: '/credits/leases',
  summary: 'The amounts that gateway processes have leased for calls',
  access: 'upstreams:read',
  reply: pageSchema(
    record({
      node: Type.String(),
      pot: Type.String(),
      user: nullable(Type.String()),
      leased: moneySchema,
      seen_at: nullable(Type.String()),
    }),
  ),
  handle: async (_input, { services, nowMs }: CreditContext) => {
    const items = (await services.credits.listLeases()).map((lease) => ({
      node: lease.nodeId,
      pot: lease.potId,
      user: lease.userName === '' ? null : lease.userName,
      leased: formatMoney(lease.leasedNanoUsd),
      seen_at: optionalInstant(lease.seenAtMs),
    }));
    return { body: { items, next_cursor: null, as_of: instant(nowMs()) } };
  },
});

/** A process that was seen in this time may still run. */
const livesForMs = 60_000;

export const releaseNode = operation({
  id: 'credits.release_node',
  method: 'POST',
  path: '/credits/nodes/{id}/release',
  summary: 'Releases the leases of a process that will never return',
  access: 'credits:write',
  recentSignIn: true,
  params: record({ id: Type.String({ maxLength: 200 }) }),
  body: request({ force: Type.Optional(Type.Boolean({ description: 'Also if the process was seen in the last minute.' })) }),
  reply: record({ released: Type.Integer() }),
  handle: async ({ params, body }, { services, nowMs, change }: CreditContext) => {
    const own = (await services.credits.listLeases()).filter((lease) => lease.nodeId === params.id);
    if (own.length === 0) throw notFound('node of this id with leases');
    const seenAtMs = Math.max(...own.map((lease) => lease.seenAtMs ?? 0));
    if (body.force !== true && nowMs() - seenAtMs < livesForMs)
      throw new AdminProblem('conflict', 'The node was seen less than a minute ago: stop it and wait a minute, or use force.');
    return { body: { released: await services.credits.releaseCreditNode({ nodeId: params.id, change: change() }) } };
  },
});

export const creditOperations: readonly Operation<StatementServices>[] = [
  listBalances,
  ...transactionOperations,
  ...statementOperations,
  listLeases,
  releaseNode,
  ...verificationOperations,
];
