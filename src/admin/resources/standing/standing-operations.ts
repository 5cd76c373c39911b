import { type Static, Type } from 'typebox';

import { maySee } from '../../../accounts/people/principal.ts';
import { type MoneyStanding, standingOf } from '../../../billing/credits/standing.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { instant, moneySchema, nullable, optionalInstant, record } from '../../contract/values.ts';
import { operation } from '../../define-operation.ts';
import type { AdminContext, Operation } from '../../operation.ts';
import { notFound } from '../../problem.ts';

export type StandingServices = { readonly standing: Parameters<typeof standingOf>[0] };

const level = Type.Enum(['key', 'user', 'team', 'organization']);
const moneyStandingSchema = record({
  level,
  of: Type.Enum(['day', 'month', 'total', 'balance'], { description: 'A spend limit in a period, or the balance that pays.' }),
  limit: nullable({ ...moneySchema, description: 'Of a balance: payments less charges.' }),
  spent: nullable({ ...moneySchema, description: 'Booked in the period; null for a balance, which is reduced by it already.' }),
  reserved: nullable({ ...moneySchema, description: 'Leased by gateways for running and next calls, or held for unfinished videos.' }),
  left: nullable({ ...moneySchema, description: 'Neither spent nor reserved.' }),
  is_used_up: Type.Boolean(),
  resets_at: nullable(Type.String({ description: 'When the period ends.' })),
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

export const getStanding = operation({
  id: 'standing.get',
  method: 'GET',
  path: '/standing',
  summary: 'Each limit of each level of a user or key: what of it is used, by what, and when it is free again',
  access: 'credits:read',
  query: record({
    user: Type.String({ maxLength: 256 }),
    key_id: Type.Optional(Type.String({ maxLength: 64 })),
    model: Type.Optional(Type.String({ maxLength: 256, description: 'Says whether it may be called.' })),
  }),
  reply: record({
    user: Type.String(),
    team: nullable(Type.String()),
    key: nullable(record({ id: Type.String(), name: Type.String() })),
    money: Type.Array(moneyStandingSchema, {
      description: 'The amount that is nearest to its end comes first. Amounts of levels of others are null.',
    }),
    rates: Type.Array(record({ level, of: Type.Enum(['requests', 'tokens', 'concurrency']), limit: Type.Number() }), {
      description: 'Limits of the last minute or of this moment, which each gateway counts for itself.',
    }),
    expires: nullable(record({ level, at: Type.String() })),
    model: nullable(record({ name: Type.String(), refused_by: nullable(level) })),
    as_of: Type.String(),
  }),
  handle: async ({ query }, { services, principal, nowMs }: AdminContext<StandingServices>) => {
    const userName = query.user.normalize('NFC');
    const atMs = nowMs();
    const found = maySee(principal.users, userName)
      ? await standingOf(services.standing, { userName, keyId: query.key_id, model: query.model }, atMs)
      : undefined;
    if (found === undefined) throw notFound('user of this name, or key of this user');
    const isOwn = (of: string): boolean => of === 'key' || of === 'user';
    return {
      body: {
        user: found.userName,
        team: found.team ?? null,
        key: found.key === undefined ? null : { ...found.key },
        money: found.money.map((money) => encodeMoney(money, principal.users === 'all' || isOwn(money.level))),
        rates: found.rates.map((rate) => ({ ...rate })),
        expires: found.expires === undefined ? null : { level: found.expires.level, at: instant(found.expires.atMs) },
        model: found.model === undefined ? null : { name: found.model.name, refused_by: found.model.refusedBy ?? null },
        as_of: instant(atMs),
      },
    };
  },
});

export const standingOperations: readonly Operation<StandingServices>[] = [getStanding];
