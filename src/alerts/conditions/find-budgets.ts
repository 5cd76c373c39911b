import type { AccountsStore } from '../../accounts/accounts-store.ts';
import type { CreditBooks } from '../../billing/credits/credit-books.ts';
import type { Payer } from '../../billing/credits/credit-desk.ts';
import { type Pot, potsOf, spanEndMs } from '../../billing/credits/pots.ts';
import { usdDecimal } from '../../billing/statistics/usd-decimal.ts';
import type { Finding, Severity } from '../alert.ts';
import type { AlertThresholds, Condition } from './condition.ts';

/** The member of the observation that calls were refused because of a pot. Its subject is the id of the pot. */
export const refusedMember = 'refused';
/** A refused call counts as the end of a limit from this share on: before, the call itself is too expensive. */
const refusalPercent = 80n;

type SpendPot = Extract<Pot, { kind: 'spend' }>;
type Reader = Pick<AccountsStore, 'listUsers' | 'listApiKeys'> & Pick<CreditBooks, 'readPots'>;
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
      const keys = await store.listApiKeys();
      const keyNames = new Map(keys.map(({ id, userName, name }) => [id, `${userName}/${name}`]));
      const found: Finding[] = [];
      for (const pots of await listSpendPots(store, keys, context.nowMs)) {
        for (const report of await store.readPots(pots)) {
          const finding = judge(report, { refused, keyNames, percents: thresholds().budgetPercents });
          if (finding !== undefined) found.push(finding);
        }
      }
      return found;
    },
  };
}

/** The pots of all spend limits, in one list for each user. */
async function listSpendPots(
  store: Pick<Reader, 'listUsers'>,
  keys: Awaited<ReturnType<Reader['listApiKeys']>>,
  nowMs: number,
): Promise<readonly (readonly Pot[])[]> {
  const users = (await store.listUsers()).map(({ name, limits }): Payer => {
    return { id: '', userName: name, ...(limits === undefined ? {} : { userLimits: limits }) };
  });
  const byUser = new Map<string, Map<string, Pot>>();
  for (const payer of [...users, ...keys.filter(({ disabledAtMs }) => disabledAtMs === undefined)]) {
    for (const pot of potsOf(payer, nowMs)) {
      if (pot.kind === 'spend') byUser.getOrInsertComputed(payer.userName, () => new Map<string, Pot>()).set(pot.id, pot);
    }
  }
  return [...byUser.values()].map((pots) => [...pots.values()]);
}

function judge(
  { pot, limitNanoUsd: limit, spentNanoUsd, videosNanoUsd }: Report,
  {
    refused,
    keyNames,
    percents,
  }: {
    readonly refused: ReadonlySet<string>;
    readonly keyNames: ReadonlyMap<string, string>;
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
  const owner = pot.keyId === undefined ? `user ${pot.userName}` : `key ${keyNames.get(pot.keyId) ?? pot.keyId}`;
  const amounts = `${usdDecimal(used)} of ${usdDecimal(limit)} USD`;
  const period = { day: 'today', month: 'this month', total: 'in total' }[pot.period];
  return {
    rule: 'budget',
    subject: pot.keyId === undefined ? `user:${pot.userName}` : `key:${pot.keyId}`,
    period: pot.span,
    level,
    threshold,
    basis: String(limit),
    severity: severityOf(threshold),
    summary: isRefused
      ? `Calls of ${owner} are refused by its spend limit: ${amounts} are used ${period}.`
      : `${owner[0]?.toUpperCase() ?? ''}${owner.slice(1)} has used ${(used * 100n) / limit} % of its spend limit: ${amounts} ${period}.`,
    action: describeAction(pot),
  };
}

function severityOf(percent: number): Severity {
  if (percent >= 95) return 'critical';
  return percent >= 80 ? 'warning' : 'info';
}

function describeAction({ keyId, userName, period, span }: SpendPot): string {
  const option = { day: '--spend-per-day', month: '--spend-per-month', total: '--spend-total' }[period];
  const command = keyId === undefined ? `weir users limit ${JSON.stringify(userName)}` : `weir keys update ${keyId}`;
  const endMs = spanEndMs(span);
  const wait = endMs === undefined ? '' : `, or wait until ${new Date(endMs).toISOString().slice(0, 10)} (UTC)`;
  return `Raise the limit with ${command} ${option} <usd>${wait}.`;
}
