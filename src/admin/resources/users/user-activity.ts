import type { AccountsStore } from '../../../accounts/accounts-store.ts';
import type { CallFactsStore } from '../../../billing/calls/call-facts-store.ts';
import { formatMoney } from '../../../billing/receipts/exact-text.ts';
import { queryUsage } from '../../../billing/usage/query-usage.ts';
import type { UsageSums, UsageStore } from '../../../billing/usage/usage-store.ts';
import { optionalInstant } from '../../contract/values.ts';

type ActivityServices = {
  readonly accounts: Pick<AccountsStore, 'countApiKeys'>;
  readonly usage: UsageStore;
  readonly calls: Pick<CallFactsStore, 'scanCalls'>;
  readonly about: { readonly timeZone: string };
};

const daySeconds = 86_400;
const burnDays = 7;
/** The newest call is the first that is read. */
const workMs = 60;

/** What a user spends, how many keys it has, and when it called last. */
export async function readActivity({ accounts, usage, calls, about }: ActivityServices, userName: string, nowMs: number) {
  const { timeZone } = about;
  const now = Math.ceil(nowMs / 1000);
  const zoned = Temporal.Instant.fromEpochMilliseconds(nowMs).toZonedDateTimeISO(timeZone);
  const month = Math.floor(zoned.with({ day: 1 }).startOfDay().epochMilliseconds / 1000);
  const sum = async (startSeconds: number): Promise<UsageSums> => {
    const question = {
      startSeconds: Math.min(startSeconds, now - 1),
      endSeconds: now,
      timeZone,
      granularity: 'none',
      extra: [],
      groupBy: [],
      filter: { users: [userName] },
      scope: 'all',
      limit: 1,
      rankBy: 'amount',
    } as const;
    return (await queryUsage(usage, question, nowMs)).totals.total;
  };
  const [ofMonth, ofDay, ofWeek, keys, { calls: newest }] = await Promise.all([
    sum(month),
    sum(now - daySeconds),
    sum(now - burnDays * daySeconds),
    accounts.countApiKeys(userName),
    calls.scanCalls({ filter: { users: [userName] }, scope: 'all', limit: 1, workMs }),
  ]);
  const amounts = ({ amountNanoUsd, calls: count }: UsageSums) => ({ amount: formatMoney(amountNanoUsd), calls: count });
  return {
    month: amounts(ofMonth),
    last_day: amounts(ofDay),
    burn_per_day: formatMoney(ofWeek.amountNanoUsd / BigInt(burnDays)),
    keys: { all: keys.all, enabled: keys.enabled },
    last_call_at: optionalInstant(newest[0]?.atMs),
  };
}
