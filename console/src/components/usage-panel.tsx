import { keepPreviousData, useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Body } from '../api/client.ts';
import { isLost, question } from '../api/query-client.ts';
import { StackedBars } from '../charts/stacked-bars.tsx';
import { nanosOf, showChartMoney, showMoney } from '../format/money.ts';
import { countOf } from '../format/numbers.ts';
import { showDay, showShortDay } from '../format/times.ts';
import { paths } from '../paths.ts';
import { Skeleton } from '../ui/notice.tsx';
import { Panel } from '../ui/panel.tsx';
import { Failure } from './failure.tsx';
import { useKept } from './use-kept.ts';
import { useSpan, useZone } from './use-page.ts';

type Filters = NonNullable<Body<'usage.query'>['filters']>;

/** The spending of 30 days, by day. @param filter as the page of usage has it in its address */
export function UsagePanel({ filter, by }: { readonly filter: Readonly<Record<string, string>>; readonly by: 'model' | 'user' }) {
  const zone = useZone();
  const { from, to } = useSpan('30d');
  const filters = Object.fromEntries(Object.entries(filter).map(([name, value]) => [name, [value]])) as Filters;
  const body = { from, to, time_zone: zone, granularity: 'day', group_by: [by], limit: 6, rank_by: 'amount', filters } as const;
  const usage = useQuery({ ...question('usage.query', { body }), placeholderData: keepPreviousData });
  const { error, refetch } = usage;
  const data = useKept(JSON.stringify([filter, by]), usage.data, error);
  const now = Date.now();
  const unfinished = data?.bucket_starts.findIndex((_start, index) => Date.parse(data.bucket_starts[index + 1] ?? data.to) > now);
  return (
    <Panel
      title="Spend in 30 days"
      tools={
        <Link to={paths.usage} search={{ ...filter, by, r: '30d' }}>
          Usage
        </Link>
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {error === null && data === undefined && <Skeleton rows={5} />}
      {data !== undefined && !isLost(error, data) && (
        <>
          {data.totals.total.calls === 0 ? (
            <p>No calls in 30 days.</p>
          ) : (
            <StackedBars
              title={`Spend per day by ${by}`}
              sentence={`${showMoney(nanosOf(data.totals.total.amount))} for ${countOf(data.totals.total.calls, 'call')} in all.`}
              series={[
                ...data.series.map(({ names, buckets }) => ({
                  name: names.join(' › '),
                  label: names.join(' › '),
                  values: buckets.map(({ amount }) => nanosOf(amount)),
                })),
                ...(data.other === null || data.other.total.calls === 0
                  ? []
                  : [{ name: undefined, label: 'Other', values: data.other.buckets.map(({ amount }) => nanosOf(amount)) }]),
              ]}
              starts={data.bucket_starts.map((start) => ({ tick: showShortDay(start, zone), full: showDay(start, zone) }))}
              unfinishedFrom={unfinished === -1 ? undefined : unfinished}
              show={showChartMoney}
              height={180}
            />
          )}
        </>
      )}
    </Panel>
  );
}
