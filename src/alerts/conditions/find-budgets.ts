import type { AccountsStore } from '../../accounts/accounts-store.ts';
import type { StoredApiKey } from '../../accounts/api-key.ts';
import { isPlaygroundKey } from '../../accounts/people/playground-key-name.ts';
import type { TeamStore } from '../../accounts/team-store.ts';
import type { CreditBooks } from '../../billing/credits/credit-books.ts';
import type { Payer } from '../../billing/credits/credit-desk.ts';
import { accountIdOf, type Pot, potsOf, spanEndMs } from '../../billing/credits/pots.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import type { Finding, Severity } from '../alert.ts';
import type { AlertThresholds, Condition } from './condition.ts';

/** The member of the observation that calls were refused because of a pot. Its subject is the id of the pot. */
export const refusedMember = 'refused';
/** A refused call counts as the end of a limit from this share on: before, the call itself is too expensive. */
const refusalPercent = 80n;

type SpendPot = Extract<Pot, { kind: 'spend' }>;
type Reader = Pick<AccountsStore, 'listUsers' | 'listLimitedApiKeys'> &
  Pick<TeamStore, 'listTeams' | 'readOrganization'> &
  Pick<CreditBooks, 'readPots'>;
type Report = Awaited<ReturnType<Reader['readPots']>>[number];

/**
 * Finds spend limits that are used up to a threshold. A jump over several thresholds is one finding, of the highest. A
 * limit counts as used up too if calls are refused because of it: holds refuse a call before its limit is reached.
 */
export function createBudgetCondition(store: Reader, thresholds: () => Pick<AlertThresholds, 'budgetPercents'>): Condition {
  return {
    rules: ['budget'],
    everyMs: 0,
    find: async (context) => {
      const refused = new Set(context.observations.flatMap(({ rule, subject }) => (rule === 'budget' ? [subject] : [])));
      const keys = await store.listLimitedApiKeys();
      const teams = await store.listTeams();
      const names: Names = {
        keys: new Map(keys.map(({ id, userName, name }) => [id, `${userName}/${name}`])),
        teams: new Map(teams.map(({ id, name }) => [id, name])),
      };
      const found: Finding[] = [];
      for (const pots of await listSpendPots(store, { keys, teams }, context.nowMs)) {
        for (const report of await store.readPots(pots)) {
          const finding = judge(report, { refused, names, percents: thresholds().budgetPercents });
          if (finding !== undefined) found.push(finding);
        }
      }
      return found;
    },
  };
}

/** Names of keys and teams by id. */
type Names = { readonly keys: ReadonlyMap<string, string>; readonly teams: ReadonlyMap<string, string> };

/** The pots of all spend limits, in one list for each user, each team and the organization. */
async function listSpendPots(
  store: Pick<Reader, 'listUsers' | 'readOrganization'>,
  {
    keys,
    teams,
  }: { readonly keys: Awaited<ReturnType<Reader['listLimitedApiKeys']>>; readonly teams: Awaited<ReturnType<Reader['listTeams']>> },
  nowMs: number,
): Promise<readonly (readonly Pot[])[]> {
  const users = (await store.listUsers()).map(({ name, limits }): Payer => {
    return { id: '', userName: name, ...(limits === undefined ? {} : { userLimits: limits }) };
  });
  const { limits: organizationLimits } = await store.readOrganization();
  const groups: readonly Payer[] = [
    ...teams.map((team) => ({ id: '', userName: '', team })),
    ...(organizationLimits === undefined ? [] : [{ id: '', userName: '', organizationLimits }]),
  ];
  const byOwner = new Map<string, Map<string, Pot>>();
  for (const payer of [...users, ...keys.filter(isWatched), ...groups]) {
    for (const pot of potsOf(payer, nowMs)) {
      if (pot.kind === 'spend') byOwner.getOrInsertComputed(accountIdOf(pot.owner), () => new Map<string, Pot>()).set(pot.id, pot);
    }
  }
  return [...byOwner.values()].map((pots) => [...pots.values()]);
}

/** The bound of a key of the playground is for the person who chose it there. */
function isWatched(key: StoredApiKey): boolean {
  return key.disabledAtMs === undefined && !isPlaygroundKey(key);
}

function judge(
  { pot, limitNanoUsd: limit, spentNanoUsd, videosNanoUsd }: Report,
  {
    refused,
    names,
    percents,
  }: {
    readonly refused: ReadonlySet<string>;
    readonly names: Names;
    readonly percents: readonly number[];
  },
): Finding | undefined {
  // A limit of zero blocks its owner on purpose.
  if (pot.kind !== 'spend' || limit === undefined || limit === 0n) return undefined;
  const used = spentNanoUsd + videosNanoUsd;
  const isRefused = refused.has(pot.id) && used * 100n >= limit * refusalPercent;
  const reached = percents.findLastIndex((percent) => used * 100n >= limit * BigInt(percent));
  const level = isRefused ? percents.length : reached + 1;
  const threshold = percents[level - 1];
  if (threshold === undefined) return undefined;
  const owner = nameOwner(pot, names);
  const amounts = `${usdDecimal(used)} of ${usdDecimal(limit)} USD`;
  const period = { day: 'today', month: 'this month', total: 'in total' }[pot.period];
  return {
    rule: 'budget',
    subject: pot.keyId === undefined ? accountIdOf(pot.owner) : `key:${pot.keyId}`,
    period: pot.span,
    level,
    threshold,
    basis: String(limit),
    severity: severityOf(threshold),
    summary: isRefused
      ? `Calls of ${owner} are refused by its spend limit: ${amounts} are used ${period}.`
      : `${owner[0]?.toUpperCase() ?? ''}${owner.slice(1)} has used ${(used * 100n) / limit} % of its spend limit: ${amounts} ${period}.`,
    action: describeAction(pot, names),
  };
}

function severityOf(percent: number): Severity {
  if (percent >= 95) return 'critical';
  return percent >= 80 ? 'warning' : 'info';
}

function nameOwner({ keyId, owner }: SpendPot, { keys, teams }: Names): string {
  if (keyId !== undefined) return `key ${keys.get(keyId) ?? keyId}`;
  if (owner.level === 'user') return `user ${owner.userName}`;
  return owner.level === 'team' ? `team ${teams.get(owner.teamId) ?? owner.teamId}` : 'the organization';
}

/** The command that changes the limits of a pot's owner. */
function nameCommand({ keyId, owner }: SpendPot, { teams }: Names): string {
  if (keyId !== undefined) return `weir keys update ${keyId}`;
  if (owner.level === 'user') return `weir users limit ${JSON.stringify(owner.userName)}`;
  return owner.level === 'team'
    ? `weir teams update ${JSON.stringify(teams.get(owner.teamId) ?? owner.teamId)}`
    : 'weir organization update';
}

function describeAction(pot: SpendPot, names: Names): string {
  const { period, span } = pot;
  const option = { day: '--spend-per-day', month: '--spend-per-month', total: '--spend-total' }[period];
  const command = nameCommand(pot, names);
  const endMs = spanEndMs(span);
  const wait = endMs === undefined ? '' : `, or wait until ${new Date(endMs).toISOString().slice(0, 10)} (UTC)`;
  return `Raise the limit with ${command} ${option} <usd>${wait}.`;
}
