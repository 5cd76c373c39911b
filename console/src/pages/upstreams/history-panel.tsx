import { useQuery } from '@tanstack/react-query';
import { useNavigate } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { StackedBars } from '../../charts/stacked-bars.tsx';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { countOf, showCount } from '../../format/numbers.ts';
import { clockTick, showTime } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';

type History = Reply<'upstreams.history'>;
type Problem = History['problems'][number];
const hourMs = 3_600_000;

/** The last day of an upstream: its calls of each hour, and the problems that gateways observed. */
export function HistoryPanel({ upstream }: { readonly upstream: string }) {
  const history = useQuery(question('upstreams.history', { params: { name: upstream } }));
  return (
    <Panel title="Last 24 hours">
      {history.isError && <Failure error={history.error} onRetry={() => void history.refetch()} />}
      {history.data === undefined && !history.isError && <Skeleton rows={4} />}
      {history.data !== undefined && (
        <>
          <Hours upstream={upstream} items={history.data.items} />
          {history.data.problems.length > 0 && <Problems problems={history.data.problems} />}
        </>
      )}
    </Panel>
  );
}

function Hours({ upstream, items }: { readonly upstream: string; readonly items: History['items'] }) {
  const zone = useZone();
  const navigate = useNavigate();
  const calls = items.reduce((sum, each) => sum + each.calls, 0);
  const failed = items.reduce((sum, each) => sum + each.failed + each.cut, 0);
  if (calls === 0) return <Empty title="It had no calls in the last 24 hours.">They appear here when they end.</Empty>;
  return (
    <StackedBars
      title="Calls of each hour"
      sentence={`${countOf(calls, 'call')}, ${showCount(failed)} of them failed or cut.`}
      height={110}
      series={[
        {
          name: 'finished',
          label: 'finished',
          colour: 'var(--series-1)',
          values: items.map((each) => BigInt(each.calls - each.failed - each.cut)),
        },
        { name: 'failed', label: 'failed or cut', colour: 'var(--bad)', values: items.map((each) => BigInt(each.failed + each.cut)) },
      ]}
      starts={items.map(({ start }) => ({ ...clockTick(start, zone), full: showTime(start, zone) }))}
      unfinishedFrom={items.length - 1}
      show={(value) => showCount(Number(value))}
      onPick={(index) => {
        const start = items[index]?.start;
        if (start === undefined) return;
        const to = new Date(Date.parse(start) + hourMs).toISOString();
        void navigate({ to: paths.calls, search: { upstream, from: start, to } });
      }}
    />
  );
}

function Problems({ problems }: { readonly problems: readonly Problem[] }) {
  const zone = useZone();
  const columns: readonly Column<Problem>[] = [
    { id: 'since', title: 'Since', render: ({ since }) => <time dateTime={since}>{showTime(since, zone)}</time> },
    {
      id: 'until',
      title: 'Until',
      render: ({ until }) =>
        until === null ? <State sign="✗" word="lasts" tone="bad" /> : <time dateTime={until}>{showTime(until, zone)}</time>,
    },
    { id: 'summary', title: 'Problem', render: ({ summary }) => summary },
    { id: 'parts', title: 'Of', priority: 2, render: ({ parts }) => parts.join(', ') },
  ];
  return <DataTable caption="Problems" columns={columns} rows={problems} keyOf={({ code, since }) => `${code} ${since}`} />;
}
