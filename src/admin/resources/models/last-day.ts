import { queryUsage } from '../../../billing/usage/query-usage.ts';
import type { UsageQuestion } from '../../../billing/usage/usage-question.ts';
import type { UsageSums } from '../../../billing/usage/usage-store.ts';
import type { AdminContext } from '../../operation.ts';
import type { UsageServices } from '../usage/usage-operations.ts';

type Context = AdminContext<UsageServices>;
type Sums = Pick<UsageSums, 'calls' | 'amountNanoUsd'>;

const daySeconds = 86_400;
/** The most groups of one question. */
const groupsMax = 50;

function ask({ services, principal, nowMs }: Context, question: Pick<UsageQuestion, 'groupBy' | 'filter' | 'extra'>) {
  const endSeconds = Math.ceil(nowMs() / 1000);
  return queryUsage(
    services.usage,
    {
      ...question,
      startSeconds: endSeconds - daySeconds,
      endSeconds,
      timeZone: services.about.timeZone,
      granularity: 'none',
      scope: principal.users,
      limit: groupsMax,
      rankBy: 'calls',
    },
    nowMs(),
  );
}

/**
 * Calls and spend of the last 24 hours by model, from the sums of the statistics: one question if at most 50 models
 * were called. Models without calls are absent.
 */
export async function sumLastDay(context: Context, names: readonly string[]): Promise<ReadonlyMap<string, Sums>> {
  const sums = new Map<string, Sums>();
  const add = ({ series }: Awaited<ReturnType<typeof ask>>): void => {
    for (const {
      names: [name = ''],
      total,
    } of series)
      sums.set(name, total);
  };
  const busiest = await ask(context, { groupBy: ['model'], filter: {}, extra: [] });
  add(busiest);
  if ((busiest.other?.total.calls ?? 0) === 0) return sums;
  const left = names.filter((name) => !sums.has(name));
  for (let begin = 0; begin < left.length; begin += groupsMax)
    add(await ask(context, { groupBy: ['model'], filter: { models: left.slice(begin, begin + groupsMax) }, extra: [] }));
  return sums;
}

/** The same for one model, with the calls that failed. */
export async function sumModelDay(context: Context, name: string): Promise<Sums & { readonly failed: number }> {
  const filter = { models: [name] };
  const [{ totals }, single] = await Promise.all([
    ask(context, { groupBy: [], filter, extra: [] }),
    ask(context, { groupBy: [], filter, extra: ['failed'] }),
  ]);
  return { ...totals.total, failed: single.totals.total.failed ?? 0 };
}
