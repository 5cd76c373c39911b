import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { Payer, SpendPeriod } from './credit-desk.ts';

/** A prepaid user's balance: what was paid in and not yet charged. */
type BalancePot = { readonly kind: 'balance'; readonly id: string; readonly bit: number; readonly userName: string };

/** What a key, or all keys of a user together, may still spend in one period. */
type SpendPot = {
  readonly kind: 'spend';
  readonly id: string;
  readonly bit: number;
  readonly userName: string;
  readonly scope: 'key' | 'user';
  /** Whose limit it is; undefined for the scope `user`. */
  readonly keyId: string | undefined;
  readonly period: SpendPeriod;
  /** Which day, which month, or `total`: see periodsOf. */
  readonly span: string;
};

/** Something that a call's money comes out of. A call needs its amount from all pots of its payer. */
export type Pot = BalancePot | SpendPot;

const nanoUsdPerUsd = 1_000_000_000n;
const dayMs = 86_400_000;

/** The periods of the calendar in UTC that an instant lies in: `2026-11-22`, `2026-11`, `total`. @throws RangeError for what is no time */
export function periodsOf(atMs: number): Readonly<Record<SpendPeriod, string>> {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return { day, month: day.slice(0, 7), total: 'total' };
}

/** Which day since 1970 it is in UTC. */
export function dayNumber(atMs: number): number {
  return Math.floor(atMs / dayMs);
}

/** When a period that began as `span` ends, in Unix milliseconds; undefined for `total`. */
export function spanEndMs(span: string): number | undefined {
  if (span === 'total') return undefined;
  if (span.length === 10) return Date.parse(span) + dayMs;
  const [year, month] = span.split('-').map(Number);
  return Date.UTC(year ?? 0, month ?? 0, 1);
}

/** When a period that is called `span` begins, in Unix milliseconds; 0 for `total`. */
export function periodStartMs(span: string): number {
  return span === 'total' ? 0 : Date.parse(span);
}

/** A limit as the operator wrote it, in nano-USD. @param text as isAccessLimits accepts it */
export function limitNanoUsd(text: string): bigint {
  const [whole = '0', decimals = ''] = text.split('.');
  return BigInt(whole) * nanoUsdPerUsd + BigInt(decimals.padEnd(9, '0'));
}

/** Which member of the limits holds the limit of a period. */
const limitNames = { day: 'spendPerDay', month: 'spendPerMonth', total: 'spendTotal' } as const satisfies Record<
  SpendPeriod,
  keyof AccessLimits
>;
const periods: readonly SpendPeriod[] = ['day', 'month', 'total'];

/** Each kind of pot has a bit, so that a ledger row can say in one small number which pots its reserve came from. */
const balanceBit = 1;
const spendBits = { key: { day: 2, month: 4, total: 8 }, user: { day: 16, month: 32, total: 64 } } as const;
export const allPotBits = 127;

/** The pot of a user's balance. */
export function balancePot(userName: string): Pot {
  return { kind: 'balance', id: `balance:${userName}`, bit: balanceBit, userName };
}

function spendPot(owner: { readonly userName: string; readonly keyId?: string }, period: SpendPeriod, span: string): Pot {
  const { userName, keyId } = owner;
  const scope = keyId === undefined ? 'user' : 'key';
  const id = `${scope}:${span}:${keyId ?? userName}`;
  return { kind: 'spend', id, bit: spendBits[scope][period], userName, scope, keyId, period, span };
}

/** All pots there could be of a call, whatever is limited. */
export function everyPot(call: { readonly userName: string; readonly keyId: string; readonly acceptedAtMs: number }): readonly Pot[] {
  const spans = periodsOf(call.acceptedAtMs);
  const { userName } = call;
  return [
    balancePot(userName),
    ...periods.map((period) => spendPot(call, period, spans[period])),
    ...periods.map((period) => spendPot({ userName }, period, spans[period])),
  ];
}

/** The pots that limit what a payer may spend now; empty where nothing does. */
export function potsOf({ id, userName, limits, userLimits }: Payer, nowMs: number): readonly Pot[] {
  const isLimited = (bounds: AccessLimits | undefined, period: SpendPeriod): boolean => bounds?.[limitNames[period]] !== undefined;
  const keyPeriods = periods.filter((period) => isLimited(limits, period));
  const userPeriods = periods.filter((period) => isLimited(userLimits, period));
  const isPrepaid = userLimits?.prepaid === true;
  if (!isPrepaid && keyPeriods.length === 0 && userPeriods.length === 0) return [];
  const spans = periodsOf(nowMs);
  return [
    ...(isPrepaid ? [balancePot(userName)] : []),
    ...keyPeriods.map((period) => spendPot({ userName, keyId: id }, period, spans[period])),
    ...userPeriods.map((period) => spendPot({ userName }, period, spans[period])),
  ];
}

/** The limit of a spend pot in nano-USD; undefined where its owner has none any more. @param limits those of the pot's owner */
export function spendLimitOf(pot: SpendPot, limits: AccessLimits | undefined): bigint | undefined {
  const written = limits?.[limitNames[pot.period]];
  return written === undefined ? undefined : limitNanoUsd(written);
}
