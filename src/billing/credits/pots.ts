import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { Payer, SpendPeriod } from './credit-desk.ts';

/** A prepaid user's balance: payments less charges. */
type BalancePot = { readonly kind: 'balance'; readonly id: string; readonly bit: number; readonly userName: string };

/** The spend limit of a key, or of all keys of a user together, in one period. */
type SpendPot = {
  readonly kind: 'spend';
  readonly id: string;
  readonly bit: number;
  readonly userName: string;
  readonly scope: 'key' | 'user';
  /** The key of the limit; undefined for the scope `user`. */
  readonly keyId: string | undefined;
  readonly period: SpendPeriod;
  /** The day, the month, or `total`: see periodsOf. */
  readonly span: string;
};

/** A source of money for calls. A call needs its amount from all pots of its payer. */
export type Pot = BalancePot | SpendPot;

const nanoUsdPerUsd = 1_000_000_000n;
const dayMs = 86_400_000;

/**
 * The periods of the calendar in UTC that contain an instant: `2026-11-22`, `2026-11`, `total`.
 * @throws RangeError for an invalid time
 */
export function periodsOf(atMs: number): Readonly<Record<SpendPeriod, string>> {
  const day = new Date(atMs).toISOString().slice(0, 10);
  return { day, month: day.slice(0, 7), total: 'total' };
}

/** The number of the day in UTC since 1970. */
export function dayNumber(atMs: number): number {
  return Math.floor(atMs / dayMs);
}

/** The end of the period `span`, in Unix milliseconds; undefined for `total`. */
export function spanEndMs(span: string): number | undefined {
  if (span === 'total') return undefined;
  if (span.length === 10) return Date.parse(span) + dayMs;
  const [year, month] = span.split('-').map(Number);
  return Date.UTC(year ?? 0, month ?? 0, 1);
}

/** The beginning of the period `span`, in Unix milliseconds; 0 for `total`. */
export function periodStartMs(span: string): number {
  return span === 'total' ? 0 : Date.parse(span);
}

/** A limit as the operator wrote it, in nano-USD. @param text as isAccessLimits accepts it */
export function limitNanoUsd(text: string): bigint {
  const [whole = '0', decimals = ''] = text.split('.');
  return BigInt(whole) * nanoUsdPerUsd + BigInt(decimals.padEnd(9, '0'));
}

/** The member of the limits for each period. */
const limitNames = { day: 'spendPerDay', month: 'spendPerMonth', total: 'spendTotal' } as const satisfies Record<
  SpendPeriod,
  keyof AccessLimits
>;
const periods: readonly SpendPeriod[] = ['day', 'month', 'total'];

/** Each kind of pot has a bit, so that a ledger row can record the pots of its hold in one small number. */
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

/** All pots that a call could have, with or without a limit. */
export function allPots(call: { readonly userName: string; readonly keyId: string; readonly acceptedAtMs: number }): readonly Pot[] {
  const spans = periodsOf(call.acceptedAtMs);
  const { userName } = call;
  return [
    balancePot(userName),
    ...periods.map((period) => spendPot(call, period, spans[period])),
    ...periods.map((period) => spendPot({ userName }, period, spans[period])),
  ];
}

/** The pots that limit a payer now; empty if nothing does. */
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

/**
 * The limit of a spend pot in nano-USD; undefined if its owner has none any more.
 * @param limits the limits of the pot's owner
 */
export function spendLimitOf(pot: SpendPot, limits: AccessLimits | undefined): bigint | undefined {
  const written = limits?.[limitNames[pot.period]];
  return written === undefined ? undefined : limitNanoUsd(written);
}
