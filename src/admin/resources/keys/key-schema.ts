import { type Static, Type } from 'typebox';

import { disconnectPolicies } from '../../../accounts/disconnect-policy.ts';
import type { ListedApiKey } from '../../../accounts/key-store.ts';
import { isPlaygroundKey } from '../../../accounts/people/playground-key-name.ts';
import type { CreditBooks } from '../../../billing/credits/credit-books.ts';
import { periodsOf } from '../../../billing/credits/pots.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { contentModeSchema } from '../../contract/content.ts';
import { encodeLimits, limitsSchema } from '../../contract/limits.ts';
import { instant, moneySchema, nullable, optionalInstant, record } from '../../contract/values.ts';

/** The store that knows the spending of keys. */
export type KeySpendServices = { readonly credits: Pick<CreditBooks, 'readKeySpend'> };

const states = ['active', 'disabled', 'expired'] as const;
const retentionDaysMax = 36_500;
export const retention = nullable(
  Type.Integer({ minimum: 0, maximum: retentionDaysMax, description: 'Days for which responses are kept; null as configured.' }),
);
export const disconnect = nullable(
  Type.Enum(disconnectPolicies, { description: 'What happens when a client leaves; null as configured.' }),
);

const keyMembers = {
  id: Type.String({ examples: ['k3jd82ls0a'] }),
  user: Type.String(),
  team: nullable(Type.String({ description: 'That of the user.' })),
  name: Type.String(),
  issuer: nullable(Type.String({ description: 'Of a key that signed tokens open: the name of their issuer.' })),
  is_playground: Type.Boolean({ description: 'Whether the playground made it, for one session of a person.' }),
  ends_in: Type.String({ description: 'The last characters of the secret.' }),
  state: Type.Enum(states),
  created_at: Type.String(),
  disabled_at: nullable(Type.String()),
  last_used_at: nullable(Type.String({ description: 'To about a minute; null if never.' })),
  previous_until: nullable(Type.String({ description: 'Until when the secret before the last rotation works.' })),
  strict_translation: Type.Boolean(),
  response_retention_days: retention,
  disconnect,
  content: contentModeSchema('as its team says'),
  tags: Type.Object({}, { additionalProperties: Type.String(), description: 'Tags of all calls of the key.' }),
  limits: limitsSchema,
  spent_today: { ...moneySchema, description: 'Booked in the present day of UTC, as its limit counts.' },
  spent_this_month: { ...moneySchema, description: 'Booked in the present month of UTC, as its limit counts.' },
};
export const keySchema = record(keyMembers, 'An API key. Its secret is shown once, when it is made or rotated.');
export const createdSchema = record({ ...keyMembers, secret: Type.String({ description: 'Shown here once: sk-weir-….' }) });

function stateOf({ disabledAtMs, limits, userLimits }: ListedApiKey, nowMs: number): (typeof states)[number] {
  if (disabledAtMs !== undefined) return 'disabled';
  return Math.min(limits?.expiresAtMs ?? Infinity, userLimits?.expiresAtMs ?? Infinity) <= nowMs ? 'expired' : 'active';
}

/** Keys as answers have them, with what each has spent. */
export async function encodeKeys(
  { credits }: KeySpendServices,
  keys: readonly ListedApiKey[],
  nowMs: number,
): Promise<Static<typeof keySchema>[]> {
  const owned = keys.map(({ id, userName }) => ({ keyId: id, userName }));
  const { day, month } = periodsOf(nowMs);
  const [today, thisMonth] = await Promise.all([credits.readKeySpend(owned, day), credits.readKeySpend(owned, month)]);
  return keys.map((key) => encodeKey(key, nowMs, { day: today.get(key.id) ?? 0n, month: thisMonth.get(key.id) ?? 0n }));
}

type Spent = { readonly day: bigint; readonly month: bigint };

function encodeKey(key: ListedApiKey, nowMs: number, spent: Spent): Static<typeof keySchema> {
  return {
    id: key.id,
    user: key.userName,
    team: key.team?.name ?? null,
    name: key.name,
    issuer: key.issuer ?? null,
    is_playground: isPlaygroundKey(key),
    ends_in: key.hint,
    state: stateOf(key, nowMs),
    created_at: instant(key.createdAtMs),
    disabled_at: optionalInstant(key.disabledAtMs),
    last_used_at: optionalInstant(key.lastUsedAtMs),
    previous_until: optionalInstant(key.previousOpensUntilMs),
    strict_translation: key.strictTranslation,
    response_retention_days: key.responseRetentionDays ?? null,
    disconnect: key.disconnectPolicy ?? null,
    content: key.content ?? null,
    tags: { ...key.tags },
    limits: encodeLimits(key.limits),
    spent_today: formatMoney(spent.day),
    spent_this_month: formatMoney(spent.month),
  };
}
