import { useQuery } from '@tanstack/react-query';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';

type Layer = Reply<'config.layers.list'>['items'][number];

/** The layers that were published below the files of all gateways. */
export function LayersSection() {
  const zone = useZone();
  const { data, error, refetch } = useQuery(question('config.layers.list', { query: {} }));
  const columns: readonly Column<Layer>[] = [
    { id: 'number', title: 'Layer', figures: true, render: ({ number }) => number },
    { id: 'at', title: 'Published', render: ({ published_at: at }) => showMinute(at, zone) },
    { id: 'actor', title: 'By', priority: 2, render: ({ actor }) => actor },
    {
      id: 'note',
      title: 'Note',
      priority: 2,
      render: ({ note, restored }) => note ?? (restored === null ? '—' : `layer ${restored} again`),
    },
    { id: 'used', title: 'Used by', priority: 3, render: ({ used_by: nodes }) => nodes.join(', ') || 'no gateway' },
    {
      id: 'problems',
      title: 'Problems',
      priority: 3,
      render: ({ problems }) => problems.map(({ node, detail }) => `${node}: ${detail}`).join('; ') || 'none',
    },
  ];
  return (
    <Panel title="Layers of the configuration">
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data?.is_on === false && <Notice tone="info">Layers are off (console.editConfig): the files alone say what is in force.</Notice>}
      {data?.items.length === 0 && <Empty title="No layer was published." line="weir config export" />}
      {data !== undefined && data.items.length > 0 && (
        <DataTable caption="Layers, newest first" columns={columns} rows={data.items} keyOf={({ number }) => String(number)} />
      )}
    </Panel>
  );
}
