import type { AccountsStore } from '../../accounts/accounts-store.ts';
import type { User } from '../../accounts/api-key.ts';
import type { TeamStore } from '../../accounts/team-store.ts';
import type { CreditBooks } from '../../billing/credits/credit-books.ts';
import { accountIdOf, type PotOwner } from '../../billing/credits/pots.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import type { AlertStore, HourlySpend } from '../alert-store.ts';
import type { Finding } from '../alert.ts';
import type { AlertThresholds, Condition } from './condition.ts';

const hourMs = 3_600_000;
const weekHours = 168;
const balancesMax = 10_000;
const minute = 60_000;

type Reader = Pick<AlertStore, 'listHourlySpend'> &
  Pick<AccountsStore, 'listUsers'> &
  Pick<TeamStore, 'listTeams' | 'readOrganization'> &
  Pick<CreditBooks, 'readBalances'>;
type Thresholds = Pick<AlertThresholds, 'balanceDays' | 'spendRate'>;

/** A user's spend in the current hour, in the seven days before it, and in the busiest hour of them, in nano-USD. */
type Spending = { now: bigint; week: bigint; busiest: bigint };

/** Finds unusual spend rates, and balances that do not last, from the spend of the last seven days. */
export function createUsageCondition(store: Reader, thresholds: () => Thresholds): Condition {
  return {
    rules: ['spend_rate', 'balance'],
    everyMs: minute,
    find: async ({ nowMs }) => {
      const hour = Math.floor(nowMs / hourMs);
      const spending = addUp(await store.listHourlySpend(hour - weekHours), hour);
      const rates = [...spending].flatMap(([userName, spent]) => judgeRate(userName, spent, { nowMs, ...thresholds().spendRate }) ?? []);
      return [...rates, ...(await findBalances(store, spending, thresholds().balanceDays))];
    },
  };
}

function addUp(rows: readonly HourlySpend[], currentHour: number): ReadonlyMap<string, Spending> {
  const byUser = new Map<string, Spending>();
  for (const { userName, hour, nanoUsd } of rows) {
    const spent = byUser.getOrInsertComputed(userName, () => ({ now: 0n, week: 0n, busiest: 0n }));
    if (hour >= currentHour) {
      spent.now += nanoUsd;
      continue;
    }
    spent.week += nanoUsd;
    if (nanoUsd > spent.busiest) spent.busiest = nanoUsd;
  }
  return byUser;
}

/** A user without earlier spending has no usual rate, so that nothing is unusual. */
function judgeRate(
  userName: string,
  { now, busiest }: Spending,
  { nowMs, times, leastNanoUsd }: Thresholds['spendRate'] & { readonly nowMs: number },
): Finding | undefined {
  // The factor may have decimals; amounts stay integers.
  const usualMost = (busiest * BigInt(Math.round(times * 100))) / 100n;
  if (busiest <= 0n || now < leastNanoUsd || now <= usualMost) return undefined;
  return {
    rule: 'spend_rate',
    subject: `user:${userName}`,
    period: new Date(nowMs).toISOString().slice(0, 10),
    level: 1,
    basis: '',
    severity: 'warning',
    summary: `User ${userName} has spent ${usdDecimal(now)} USD in this hour; the busiest hour of the last seven days had ${usdDecimal(busiest)} USD.`,
    action: `Look at the calls with weir usage --user ${JSON.stringify(userName)}, and disable a key that is misused with weir keys disable.`,
  };
}

/** An owner whose balance pays for calls, and the spending of its present users in the last seven days. */
type Prepaid = { readonly owner: PotOwner; readonly name: string; readonly week: bigint; readonly command: string };

async function findBalances(store: Reader, spending: ReadonlyMap<string, Spending>, days: readonly number[]): Promise<readonly Finding[]> {
  const prepaid = await listPrepaid(store, spending);
  if (prepaid.length === 0) return [];
  const balances = await store.readBalances({ limit: balancesMax });
  const known = new Map(balances.map(({ owner, balanceNanoUsd, videosNanoUsd }) => [accountIdOf(owner), balanceNanoUsd - videosNanoUsd]));
  return prepaid.flatMap((each) => judgeBalance(each, known.get(accountIdOf(each.owner)), days) ?? []);
}

/** A call is paid by the nearest prepaid level. */
async function listPrepaid(store: Reader, spending: ReadonlyMap<string, Spending>): Promise<readonly Prepaid[]> {
  const users = await store.listUsers();
  const teams = (await store.listTeams()).filter(({ limits }) => limits?.prepaid === true);
  const { limits } = await store.readOrganization();
  const weekOf = (of: readonly User[]): bigint => of.reduce((sum, { name }) => sum + (spending.get(name)?.week ?? 0n), 0n);
  const others = users.filter((user) => user.limits?.prepaid !== true);
  const unpaid = others.filter(({ team }) => team === undefined || !teams.some(({ name }) => name === team));
  return [
    ...users.flatMap((user): Prepaid[] => {
      if (user.limits?.prepaid !== true) return [];
      const command = `weir credits top-up ${JSON.stringify(user.name)}`;
      return [{ owner: { level: 'user', userName: user.name }, name: `user ${user.name}`, week: weekOf([user]), command }];
    }),
    ...teams.map(({ id, name }): Prepaid => {
      const week = weekOf(others.filter(({ team }) => team === name));
      return { owner: { level: 'team', teamId: id }, name: `team ${name}`, week, command: `weir teams top-up ${JSON.stringify(name)}` };
    }),
    ...(limits?.prepaid === true
      ? [{ owner: { level: 'organization' }, name: 'the organization', week: weekOf(unpaid), command: 'weir organization top-up' } as const]
      : []),
  ];
}

/** An owner without an account was never paid for and has not called: nothing is used up. */
function judgeBalance({ owner, name, week, command }: Prepaid, free: bigint | undefined, days: readonly number[]): Finding | undefined {
  if (free === undefined) return undefined;
  // Without spending it is unknown how long a balance lasts.
  const lastsDays = week <= 0n ? undefined : Number((free * 70n) / week) / 10;
  const isEmpty = free <= 0n;
  const reached = lastsDays === undefined ? -1 : days.findLastIndex((most) => lastsDays < most);
  if (!isEmpty && reached === -1) return undefined;
  const amount = `${usdDecimal(free)} USD`;
  return {
    rule: 'balance',
    subject: accountIdOf(owner),
    period: '',
    level: isEmpty ? days.length + 1 : reached + 1,
    threshold: isEmpty ? 0 : (days[reached] ?? 0),
    basis: '',
    severity: isEmpty || reached === days.length - 1 ? 'critical' : 'warning',
    summary: isEmpty
      ? `The balance of ${name} is used up (${amount}): its calls are refused.`
      : `The balance of ${name}, ${amount}, lasts ${lastsDays} days at the rate of the last seven days.`,
    action: `Post a payment with ${command} <usd>.`,
  };
}
