import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { curlOf } from '../../api/equivalents.ts';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { usePages } from '../../components/use-pages.ts';
import { showCount } from '../../format/numbers.ts';
import { showRowTime } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { SidePanel } from '../../ui/split.tsx';
import { State } from '../../ui/state.tsx';
import type { CellName } from './month-days.ts';

type Call = Reply<'reconciliations.calls'>['items'][number];
type Props = { readonly id: string; readonly cell: CellName; readonly onClose: () => void };

/** The calls of one model and day; one that alone is the difference is marked. */
export function CellCalls({ id, cell, onClose }: Props) {
  const zone = useZone();
  const input = { params: { id }, query: cell };
  const pages = usePages('reconciliations.calls', input);
  const rows = pages.data?.pages.flatMap(({ items }) => items);
  return (
    <SidePanel label="Calls of the cell" title={<h2>{`${cell.model}, ${cell.day}`}</h2>} onClose={onClose}>
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {rows === undefined && !pages.isError && <Skeleton rows={6} />}
      {rows?.length === 0 && !pages.hasNextPage && (
        <Empty title="The ledger has no such call.">
          The vendor counts calls that did not go through this gateway, or that are not booked yet.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <DataTable caption="Calls of the cell, oldest first" columns={columnsOf(zone)} rows={rows} keyOf={(call) => call.call_id} />
      )}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {rows?.length === 0 ? 'Search on' : 'More'}
        </Button>
      )}
      <Equivalent
        command={`weir reconcile usage.json --calls ${cell.model}:${cell.day}`}
        curl={curlOf(location.origin, 'reconciliations.calls', input)}
      />
    </SidePanel>
  );
}

const usageOf = (usage: Call['usage']): string =>
  Object.entries(usage)
    .filter(([name, count]) => name !== 'requests' && count > 0)
    .map(([name, count]) => `${name.replaceAll('_', ' ')} ${showCount(count)}`)
    .join(', ');

const columnsOf = (zone: string): readonly Column<Call>[] => [
  {
    id: 'at',
    title: 'Accepted',
    figures: true,
    render: ({ call_id: id, accepted_at: at }) => <Link to={paths.call(id)}>{showRowTime(at, zone)}</Link>,
  },
  { id: 'user', title: 'User', grows: true, render: ({ user }) => user },
  {
    id: 'signs',
    title: 'Signs',
    render: ({ explains_difference: explains, signs, failed_attempts: failed }) =>
      explains ? (
        <State sign="▲" word="is the difference" tone="bad" />
      ) : (
        [...signs, ...(failed > 0 ? [`${failed} failed before`] : [])].join(', ') || '—'
      ),
  },
  { id: 'usage', title: 'Usage', priority: 2, render: ({ usage }) => <span title={usageOf(usage)}>{usageOf(usage) || '—'}</span> },
  { id: 'vendor', title: 'Id at the vendor', priority: 3, render: ({ upstream_request_id: id }) => id ?? '—' },
];
