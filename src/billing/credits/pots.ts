import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { AccountLevel } from '../../accounts/team.ts';
import type { Payer, SpendPeriod } from './credit-desk.ts';

/** The owner of a pot. Its account row is the lock of the pot: see ownersInOrder. */
export type PotOwner =
  | { readonly level: 'user'; readonly userName: string }
  | { readonly level: 'team'; readonly teamId: string }
  | { readonly level: 'organization' };

/** A prepaid owner's balance: payments less charges. */
type BalancePot = { readonly kind: 'balance'; readonly id: string; readonly bit: number; readonly owner: PotOwner };

/** The spend limit of a key, or of all keys of a user, a team or the organization together, in one period. */
type SpendPot = {
  readonly kind: 'spend';
  readonly id: string;
  readonly bit: number;
  /** For the scope `key` the user who owns the key. */
  readonly owner: PotOwner;
  readonly scope: AccountLevel;
  /** The key of the limit; undefined for the other scopes. */
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

/**
 * Each kind of pot has a bit, so that a ledger row can record the pots of its hold in one small number. The sum of all
 * is the highest number of 16 bits with a sign.
 */
const balanceBits = { user: 1, team: 128, organization: 2048 } as const;
const spendBits = {
  key: { day: 2, month: 4, total: 8 },
  user: { day: 16, month: 32, total: 64 },
  team: { day: 256, month: 512, total: 1024 },
  organization: { day: 4096, month: 8192, total: 16_384 },
} as const;
export const allPotBits = 32_767;

/** The account of the organization, which a database has once. */
export const organizationAccountId = 'organization:1';

/** The id of an owner's account. */
export function accountIdOf(owner: PotOwner): string {
  if (owner.level === 'user') return `user:${owner.userName}`;
  return owner.level === 'team' ? `team:${owner.teamId}` : organizationAccountId;
}

const levelOrder = { user: 0, team: 1, organization: 2 } as const;

/**
 * Different owners in the order in which every transaction locks their accounts, so that no two wait for each other:
 * users by name, teams by id, the organization. What many share comes last, and is locked for the shortest time.
 */
export function ownersInOrder(owners: Iterable<PotOwner>): readonly PotOwner[] {
  const byAccount = new Map<string, PotOwner>();
  for (const owner of owners) byAccount.set(accountIdOf(owner), owner);
  return [...byAccount]
    .toSorted(([one, first], [other, second]) => levelOrder[first.level] - levelOrder[second.level] || (one < other ? -1 : 1))
    .map(([, owner]) => owner);
}

/** The owners whose limits a call may be under. */
export function ownersOf({ userName, teamId }: SpendingCall): readonly PotOwner[] {
  return [{ level: 'user', userName }, ...(teamId === undefined ? [] : [{ level: 'team', teamId } as const]), { level: 'organization' }];
}

/** The pot of a user's balance. */
export function balancePot(userName: string): Pot {
  return balanceOf({ level: 'user', userName });
}

/** The pot of an owner's balance. */
export function balanceOf(owner: PotOwner): Pot {
  const { level } = owner;
  const id = level === 'user' ? `balance:${owner.userName}` : `balance-of-${accountIdOf(owner)}`;
  return { kind: 'balance', id, bit: balanceBits[level], owner };
}

function spendPot(owner: PotOwner, period: SpendPeriod, span: string, keyId?: string): Pot {
  const scope = keyId === undefined ? owner.level : 'key';
  const [, ...words] = accountIdOf(owner).split(':');
  const id = `${scope}:${span}:${keyId ?? words.join(':')}`;
  return { kind: 'spend', id, bit: spendBits[scope][period], owner, scope, keyId, period, span };
}

/** The part of a call by which its pots are found. */
export type SpendingCall = { readonly userName: string; readonly keyId: string; readonly teamId?: string | undefined };

/** All pots that a call could have, with or without a limit. */
export function allPots(call: SpendingCall & { readonly acceptedAtMs: number }): readonly Pot[] {
  const spans = periodsOf(call.acceptedAtMs);
  const ofKey = { level: 'user', userName: call.userName } as const;
  const ofOwner = (owner: PotOwner): Pot[] => periods.map((period) => spendPot(owner, period, spans[period]));
  const above = ownersOf(call).filter(({ level }) => level !== 'user');
  return [
    balanceOf(ofKey),
    ...periods.map((period) => spendPot(ofKey, period, spans[period], call.keyId)),
    ...ofOwner(ofKey),
    ...above.flatMap((owner) => [balanceOf(owner), ...ofOwner(owner)]),
  ];
}

/** A level above the key, and its limits. */
type LimitedOwner = { readonly owner: PotOwner; readonly limits: AccessLimits | undefined };

/** The levels above a payer's key, the nearest first. */
function levelsOf({ userName, userLimits, team, organizationLimits }: Payer): readonly LimitedOwner[] {
  return [
    { owner: { level: 'user', userName }, limits: userLimits },
    ...(team === undefined ? [] : [{ owner: { level: 'team', teamId: team.id } as const, limits: team.limits }]),
    { owner: { level: 'organization' }, limits: organizationLimits },
  ];
}

const isLimited = (limits: AccessLimits | undefined, period: SpendPeriod): boolean => limits?.[limitNames[period]] !== undefined;

/**
 * The pots that limit a payer now; empty if nothing does. All spend limits of all levels, and one balance: that of the
 * nearest prepaid level, which pays.
 */
export function potsOf(payer: Payer, nowMs: number): readonly Pot[] {
  const levels = levelsOf(payer);
  const paying = levels.find(({ limits }) => limits?.prepaid === true);
  const ofKey = { level: 'user', userName: payer.userName } as const;
  const spans = periodsOf(nowMs);
  const keyPeriods = periods.filter((period) => isLimited(payer.limits, period));
  return [
    ...(paying === undefined ? [] : [balanceOf(paying.owner)]),
    ...keyPeriods.map((period) => spendPot(ofKey, period, spans[period], payer.id)),
    ...levels.flatMap(({ owner, limits }) =>
      periods.filter((period) => isLimited(limits, period)).map((period) => spendPot(owner, period, spans[period])),
    ),
  ];
}

/** The payer of a call whose hold is in these pots. Absent: the user, as for a call without a hold. */
export type GroupPayer = 'team' | 'organization';

/** The payer that the bits of a hold name; undefined for the user. */
export function payerOf(bits: number): GroupPayer | undefined {
  if ((bits & balanceBits.team) !== 0) return 'team';
  return (bits & balanceBits.organization) === 0 ? undefined : 'organization';
}

/** The owner of the account that is charged. */
export function paidBy({ userName, teamId, payer }: SpendingCall & { readonly payer?: GroupPayer | undefined }): PotOwner {
  if (payer === 'organization') return { level: 'organization' };
  return payer === 'team' && teamId !== undefined ? { level: 'team', teamId } : { level: 'user', userName };
}

/**
 * The limit of a spend pot in nano-USD; undefined if its owner has none any more.
 * @param limits the limits of the pot's owner
 */
export function spendLimitOf(pot: SpendPot, limits: AccessLimits | undefined): bigint | undefined {
  const written = limits?.[limitNames[pot.period]];
  return written === undefined ? undefined : limitNanoUsd(written);
}
