import type { AccessLimits } from '../../accounts/access-limits.ts';
import type { AccountsStore } from '../../accounts/accounts-store.ts';
import { findUserNamed } from '../../accounts/user-query.ts';
import { isListed } from '../../accounts/is-listed.ts';
import type { TeamStore } from '../../accounts/team-store.ts';
import type { AccountLevel } from '../../accounts/team.ts';
import type { CreditBooks } from './credit-books.ts';
import type { Payer, SpendPeriod } from './credit-desk.ts';
import { createSpendingReader } from './spending-overview.ts';

/** The state of an amount of money that a level may use. Amounts are nano-USD. */
export type MoneyStanding = {
  readonly level: AccountLevel;
  /** A spend limit in a period, or the balance that pays. */
  readonly of: SpendPeriod | 'balance';
  /** The limit; of a balance: payments less charges, which may be negative. */
  readonly limitNanoUsd: bigint;
  /** The booked spend of the period; undefined for a balance, which is reduced by it already. */
  readonly spentNanoUsd?: bigint;
  /** Leased by processes for running and next calls, or held for unfinished videos. */
  readonly reservedNanoUsd: bigint;
  /**
   * The part that is neither spent nor held for unfinished videos; 0 or more. What a process has leased is among it:
   * one process leases all of a small limit, and its next calls draw from that.
   */
  readonly leftNanoUsd: bigint;
  /** When the period ends, in Unix milliseconds; undefined for `total` and for a balance. */
  readonly resetsAtMs?: number;
};

/**
 * A limit that each gateway counts for itself, in the last minute or at the present moment. The database does not know
 * the part of it that is used.
 */
type RateStanding = {
  readonly level: AccountLevel;
  /** The id of the key, the user or the team; empty for the organization. */
  readonly id: string;
  readonly of: 'requests' | 'tokens' | 'concurrency';
  readonly limit: number;
};

/** The standing of a caller: every limit of every level, the nearest level first. */
export type Standing = {
  readonly userName: string;
  readonly team?: string;
  readonly key?: { readonly id: string; readonly name: string };
  /** The levels and their ids, the nearest first. */
  readonly levels: readonly { readonly level: AccountLevel; readonly id: string }[];
  /** The money that is nearest to its end first: by the share that is left. */
  readonly money: readonly MoneyStanding[];
  readonly rates: readonly RateStanding[];
  /** The first moment at which a level stops all calls, in Unix milliseconds, and that level. */
  readonly expires?: { readonly level: AccountLevel; readonly atMs: number };
  /** Only if a model was named: whether it may be called, and otherwise the nearest level that does not allow it. */
  readonly model?: { readonly name: string; readonly refusedBy?: AccountLevel };
};

type Reader = Pick<AccountsStore, 'queryUsers' | 'queryApiKeys'> &
  Pick<TeamStore, 'listTeams' | 'readOrganization'> &
  Pick<CreditBooks, 'readPots'>;

/** A user, or one of its keys, and a model that it would call. */
export type StandingQuestion = { readonly userName: string; readonly keyId?: string | undefined; readonly model?: string | undefined };

/**
 * The standing of a user, or of one of its keys. Undefined if there is no such user, or no such key of this user.
 * Rejects with the store's error.
 */
export async function standingOf(
  store: Reader,
  { userName, keyId, model }: StandingQuestion,
  nowMs: number,
): Promise<Standing | undefined> {
  const user = await findUserNamed(store, 'all', userName);
  if (user === undefined) return undefined;
  const query = { users: [userName], ids: [keyId ?? ''], order: 'oldest', limit: 1 } as const;
  const [key] = keyId === undefined ? [] : await store.queryApiKeys(query);
  if (keyId !== undefined && key === undefined) return undefined;
  const team = user.team === undefined ? undefined : (await store.listTeams()).find(({ name }) => name === user.team);
  const { limits: organizationLimits } = await store.readOrganization();
  const payer: Payer = {
    id: key?.id ?? '',
    userName,
    ...(key?.limits !== undefined && { limits: key.limits }),
    ...(user.limits !== undefined && { userLimits: user.limits }),
    ...(team !== undefined && { team }),
    ...(organizationLimits !== undefined && { organizationLimits }),
  };
  const ids = { key: key?.id, user: user.id, team: team?.id, organization: '' };
  const levels = levelsOf(payer);
  const refusedBy = model === undefined ? undefined : levels.find(({ limits }) => !isListed(limits.models, model))?.level;
  const expires = findExpiry(levels);
  return {
    userName,
    ...(team !== undefined && { team: team.name }),
    ...(key !== undefined && { key: { id: key.id, name: key.name } }),
    levels: levelNames.flatMap((level) => (ids[level] === undefined ? [] : [{ level, id: ids[level] }])),
    money: await readMoney(store, payer, nowMs),
    rates: levels.flatMap(({ level, limits }) => ratesOf({ level, id: ids[level] ?? '' }, limits)),
    ...(expires !== undefined && { expires }),
    ...(model !== undefined && { model: { name: model, ...(refusedBy !== undefined && { refusedBy }) } }),
  };
}

const levelNames = ['key', 'user', 'team', 'organization'] as const;

type Level = { readonly level: AccountLevel; readonly limits: AccessLimits };

/** The levels with limits, the nearest first. */
function levelsOf({ limits, userLimits, team, organizationLimits }: Payer): readonly Level[] {
  const all = { key: limits, user: userLimits, team: team?.limits, organization: organizationLimits };
  return levelNames.flatMap((level) => {
    const own = all[level];
    return own === undefined ? [] : [{ level, limits: own }];
  });
}

function ratesOf(
  owner: Pick<RateStanding, 'level' | 'id'>,
  { requestsPerMinute, tokensPerMinute, concurrency }: AccessLimits,
): readonly RateStanding[] {
  const rates = { requests: requestsPerMinute, tokens: tokensPerMinute, concurrency };
  return (['requests', 'tokens', 'concurrency'] as const).flatMap((of) => {
    const limit = rates[of];
    return limit === undefined ? [] : [{ ...owner, of, limit }];
  });
}

function findExpiry(levels: readonly Level[]): Standing['expires'] {
  let first: Standing['expires'];
  for (const { level, limits } of levels) {
    const atMs = limits.expiresAtMs;
    if (atMs !== undefined && (first === undefined || atMs < first.atMs)) first = { level, atMs };
  }
  return first;
}

async function readMoney(store: Pick<CreditBooks, 'readPots'>, payer: Payer, nowMs: number): Promise<readonly MoneyStanding[]> {
  const { balance, limits } = await createSpendingReader({ store }).read(payer, nowMs);
  const found: MoneyStanding[] = limits.map(
    ({ scope, period, limitNanoUsd, spentNanoUsd, reservedNanoUsd, videosNanoUsd, resetsAtMs }) => ({
      level: scope,
      of: period,
      limitNanoUsd,
      spentNanoUsd,
      reservedNanoUsd,
      leftNanoUsd: atLeastZero(limitNanoUsd - spentNanoUsd - videosNanoUsd),
      ...(resetsAtMs !== undefined && { resetsAtMs }),
    }),
  );
  if (balance !== undefined) {
    const { scope, balanceNanoUsd, reservedNanoUsd, videosNanoUsd } = balance;
    const leftNanoUsd = atLeastZero(balanceNanoUsd - videosNanoUsd);
    found.push({ level: scope, of: 'balance', limitNanoUsd: balanceNanoUsd, reservedNanoUsd, leftNanoUsd });
  }
  return found.toSorted((one, other) => remainingShare(one) - remainingShare(other));
}

const atLeastZero = (nanoUsd: bigint): bigint => (nanoUsd < 0n ? 0n : nanoUsd);

/** The part that is left, in millionths; of a balance the part that no video holds. */
export function remainingShare({ limitNanoUsd, leftNanoUsd }: MoneyStanding): number {
  return limitNanoUsd <= 0n ? 0 : Number((leftNanoUsd * 1_000_000n) / limitNanoUsd);
}
