import { type Static, Type } from 'typebox';

import { maySee } from '../../../accounts/people/principal.ts';
import { listStandings } from '../../../billing/credits/list-standings.ts';
import { type MoneyStanding, type Standing, standingOf } from '../../../billing/credits/standing.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { limitAnswerMsMax } from '../../../control/nodes/ask-limit-use.ts';
import { joinLimitUse, type LimitOwner, type LimitUses } from '../../../control/nodes/limit-use.ts';
import { instant, moneySchema, nullable, optionalInstant, record } from '../../contract/values.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';
import type { ControlServices } from '../nodes/live-nodes.ts';
import { booksOperation } from '../books-operation.ts';

export type StandingServices = ControlServices & {
  readonly standing: Parameters<typeof standingOf>[0] & Parameters<typeof listStandings>[0];
  /** What gateways count for owners of rate limits: see askLimitUse. */
  readonly limitUse: (owners: readonly LimitOwner[], wait: { readonly waitMs: number; readonly signal: AbortSignal }) => Promise<LimitUses>;
};
type Context = AdminContext<StandingServices>;

const level = Type.Enum(['key', 'user', 'team', 'organization']);
const moneyStandingMembers = {
  level,
  of: Type.Enum(['day', 'month', 'total', 'balance'], { description: 'A spend limit in a period, or the balance that pays.' }),
  limit: nullable({ ...moneySchema, description: 'Of a balance: payments less charges.' }),
  spent: nullable({ ...moneySchema, description: 'Booked in the period; null for a balance, which is reduced by it already.' }),
  reserved: nullable({ ...moneySchema, description: 'Leased by gateways for running and next calls, or held for unfinished videos.' }),
  left: nullable({ ...moneySchema, description: 'Neither spent nor held for unfinished videos. It has what gateways have leased.' }),
  is_used_up: Type.Boolean(),
  resets_at: nullable(Type.String({ description: 'When the period ends.' })),
};
const moneyStandingSchema = record(moneyStandingMembers);

const rateSchema = record({
  level: Type.Enum(['key', 'user', 'team', 'organization', 'model']),
  of: Type.Enum(['requests', 'tokens', 'concurrency']),
  limit: Type.Number({ description: 'Each gateway admits as much.' }),
  used: nullable(
    Type.Integer({
      description:
        'Of the last minute, or under way: in the gateway where most is used. Null if a gateway is silent, or of a level of others.',
    }),
  ),
  free_at: nullable(Type.String({ description: 'When none of it is used any more, without further calls.' })),
});

/** Amounts of a team and the organization are about other users too: an owner sees only whether they are used up. */
function encodeMoney(money: MoneyStanding, isShown: boolean): Static<typeof moneyStandingSchema> {
  const amount = (nanoUsd: bigint | undefined) => (nanoUsd === undefined || !isShown ? null : formatMoney(nanoUsd));
  return {
    level: money.level,
    of: money.of,
    limit: amount(money.limitNanoUsd),
    spent: amount(money.spentNanoUsd),
    reserved: amount(money.reservedNanoUsd),
    left: amount(money.leftNanoUsd),
    is_used_up: money.leftNanoUsd <= 0n,
    resets_at: optionalInstant(money.resetsAtMs),
  };
}

export const getStanding = booksOperation({
  id: 'standing.get',
  method: 'GET',
  path: '/standing',
  summary: 'Each limit of each level of a user or key: what of it is used, by what, and when it is free again',
  access: 'credits:read',
  query: record({
    user: Type.String({ maxLength: 256 }),
    key_id: Type.Optional(Type.String({ maxLength: 64 })),
    model: Type.Optional(Type.String({ maxLength: 256, description: 'Says whether it may be called, and adds its limits.' })),
    wait_ms: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: limitAnswerMsMax,
        description: 'How long gateways may take to answer. Default: 2500. 0 does not ask.',
      }),
    ),
  }),
  reply: record({
    user: Type.String(),
    team: nullable(Type.String()),
    key: nullable(record({ id: Type.String(), name: Type.String() })),
    money: Type.Array(moneyStandingSchema, {
      description: 'The amount that is nearest to its end comes first. Amounts of levels of others are null.',
    }),
    rates: Type.Array(rateSchema, {
      description:
        'Limits of the last minute or of this moment, which each gateway counts for itself. Limits of configurations, such as `limits.perKey`, are listed if a gateway has answered.',
    }),
    gateways: record({
      answered: Type.Integer(),
      silent: Type.Integer({ description: 'Gateways that did not say in time what is used.' }),
    }),
    expires: nullable(record({ level, at: Type.String() })),
    model: nullable(record({ name: Type.String(), refused_by: nullable(level) })),
    as_of: Type.String(),
  }),
  handle: async ({ query }, context: Context) => {
    const { services, principal, nowMs } = context;
    const userName = query.user.normalize('NFC');
    const atMs = nowMs();
    const found = maySee(principal.users, userName)
      ? await standingOf(services.standing, { userName, keyId: query.key_id, model: query.model }, atMs)
      : undefined;
    if (found === undefined) throw notFound('user of this name, or key of this user');
    const { rates, gateways } = await readRates(found, query.wait_ms ?? limitAnswerMsMax, context);
    return {
      body: {
        user: found.userName,
        team: found.team ?? null,
        key: found.key === undefined ? null : { ...found.key },
        money: found.money.map((money) => encodeMoney(money, isShown(money.level, principal))),
        rates,
        gateways,
        expires: found.expires === undefined ? null : { level: found.expires.level, at: instant(found.expires.atMs) },
        model: found.model === undefined ? null : { name: found.model.name, refused_by: found.model.refusedBy ?? null },
        as_of: instant(atMs),
      },
    };
  },
});

function isShown(of: string, { users }: Context['principal']): boolean {
  return users === 'all' || of === 'key' || of === 'user';
}

/** The rate limits of all levels and of the model, with what gateways count for those that the principal may see. */
async function readRates({ levels, rates, model }: Standing, waitMs: number, { services, principal, signal, nowMs }: Context) {
  const owners: LimitOwner[] = levels.map(({ level: scope, id }) => ({ scope, id }));
  if (model !== undefined) owners.push({ scope: 'model', id: model.name });
  const asked = owners.filter(({ scope }) => isShown(scope, principal));
  const uses = waitMs === 0 ? { answers: [], silent: 0 } : await services.limitUse(asked, { waitMs, signal });
  const known = rates.map(({ level: scope, ...rate }) => ({ ...rate, scope }));
  const answeredAtMs = nowMs();
  return {
    rates: joinLimitUse(owners, known, uses).map(({ scope, of, limit, used, freeInMs }): Static<typeof rateSchema> => ({
      level: scope,
      of,
      limit,
      used: used ?? null,
      free_at: freeInMs === undefined ? null : instant(answeredAtMs + freeInMs),
    })),
    gateways: { answered: uses.answers.length, silent: uses.silent },
  };
}

const listedDefault = 100;

export const listEveryStanding = booksOperation({
  id: 'standing.list',
  method: 'GET',
  path: '/standings',
  summary: 'Every spend limit and every balance that pays, nearest to its end first',
  access: 'credits:read',
  query: record({ limit: Type.Optional(Type.Integer({ minimum: 1, maximum: 1000, description: '100 unless given.' })) }),
  reply: record({
    items: Type.Array(
      record({
        ...moneyStandingMembers,
        user: nullable(Type.String({ description: 'Of a user and of a key.' })),
        team: nullable(Type.String()),
        key: nullable(record({ id: Type.String(), name: Type.String() })),
      }),
    ),
    total: Type.Integer({ description: 'How many there are; `items` has the first of them.' }),
    as_of: Type.String(),
  }),
  handle: async ({ query }, { services, principal, nowMs }: Context) => {
    const atMs = nowMs();
    const all = await listStandings(services.standing, principal.users, atMs);
    const items = all.slice(0, query.limit ?? listedDefault).map((standing) => ({
      ...encodeMoney(standing, true),
      user: standing.userName ?? null,
      team: standing.team ?? null,
      key: standing.key === undefined ? null : { ...standing.key },
    }));
    return { body: { items, total: all.length, as_of: instant(atMs) } };
  },
});

export const standingOperations: readonly Operation<StandingServices>[] = [getStanding, listEveryStanding];
