import { useQuery } from '@tanstack/react-query';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { useMinute, useZone } from '../../components/use-page.ts';
import { showCount, showShare } from '../../format/numbers.ts';
import { showAgo, showTime } from '../../format/times.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { NodeState } from './config-section.tsx';

type Node = Reply<'nodes.list'>['items'][number];
const bytesPerMib = 1_048_576;

/** The gateway processes, as they last reported. */
export function NodesSection() {
  const zone = useZone();
  const nowMs = useMinute();
  const { data, error, refetch } = useQuery({ ...question('nodes.list', {}), refetchInterval: 10_000 });
  const columns: readonly Column<Node>[] = [
    { id: 'id', title: 'Gateway', render: ({ id, host }) => <code title={host}>{id}</code> },
    { id: 'state', title: 'State', render: ({ state }) => <NodeState state={state} /> },
    {
      id: 'reported',
      title: 'Reported',
      priority: 2,
      render: ({ reported_at: at }) => <span title={showTime(at, zone)}>{showAgo(at, Math.max(nowMs, Date.parse(at)))}</span>,
    },
    { id: 'version', title: 'Version', priority: 2, render: ({ version }) => version },
    { id: 'calls', title: 'Calls under way', figures: true, render: (node) => showCount(node.calls_under_way) },
    { id: 'journal', title: 'Not booked yet', figures: true, priority: 2, render: (node) => showCount(node.journal_pending) },
    { id: 'loop', title: 'Event loop busy', figures: true, priority: 3, render: (node) => showShare(node.loop_busy_share) },
    {
      id: 'memory',
      title: 'Memory (MiB)',
      figures: true,
      priority: 3,
      render: (node) => showCount(Math.round(node.memory_bytes / bytesPerMib)),
    },
    {
      id: 'config',
      title: 'Configuration',
      priority: 3,
      render: (node) => (node.config_in_force ? 'in force' : 'the present file is not in force'),
    },
  ];
  return (
    <Panel title="Gateways">
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data?.items.length === 0 && <Empty title="No gateway has reported." line="weir gateway" />}
      {data !== undefined && data.items.length > 0 && (
        <DataTable caption="Gateways" columns={columns} rows={data.items} keyOf={({ id }) => id} />
      )}
    </Panel>
  );
}
