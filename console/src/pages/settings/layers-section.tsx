import { useState } from 'react';
import { useQuery } from '@tanstack/react-query';

import { versionedQuestion } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { Split } from '../../ui/split.tsx';
import { EditDialog } from './layer-dialogs.tsx';
import { LayerPanel } from './layer-panel.tsx';
import { type Layer, noteOf } from './layer-words.ts';

const shownMax = 200;

/** The layers that were published below the files of all gateways: compared, published, and published again. */
export function LayersSection() {
  const [search, change] = useAddress();
  const mayWrite = may(useSession(), 'config:write');
  const [isEditing, setIsEditing] = useState(false);
  const { data, error, refetch } = useQuery(versionedQuestion('config.layers.list', { query: { limit: shownMax } }));
  const layers = data?.body.items ?? [];
  const open = layers.find(({ number }) => String(number) === one(search, 'layer'));
  const publishes = mayWrite && data?.body.is_on === true;
  return (
    <Split
      panel={
        open !== undefined && (
          <LayerPanel
            key={open.number}
            layer={open}
            layers={layers}
            version={data?.version}
            mayPublish={publishes}
            onClose={() => change({ layer: undefined, against: undefined })}
          />
        )
      }
    >
      <Panel
        title="Layers of the configuration"
        tools={publishes ? <Button onClick={() => setIsEditing(true)}>Edit and publish</Button> : undefined}
      >
        {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
        {data === undefined && error === null && <Skeleton rows={4} />}
        {data?.body.is_on === false && (
          <Notice tone="info">Layers are off (console.editConfig): the files alone say what is in force.</Notice>
        )}
        {data !== undefined && layers.length === 0 && (
          <Empty title="No layer was published." line="weir config publish layer.yaml">
            A layer has upstreams, models and limits for all gateways. What a file says stays above it.
          </Empty>
        )}
        {layers.length > 0 && (
          <Layers
            layers={layers}
            open={open}
            onOpen={({ number }) => change({ layer: String(number), against: undefined }, open !== undefined)}
          />
        )}
      </Panel>
      {isEditing && <EditDialog newest={layers[0]} version={data?.version} onClose={() => setIsEditing(false)} />}
    </Split>
  );
}

type TableProps = {
  readonly layers: readonly Layer[];
  readonly open: Layer | undefined;
  readonly onOpen: (layer: Layer) => void;
};

function Layers({ layers, open, onOpen }: TableProps) {
  const zone = useZone();
  const columns: readonly Column<Layer>[] = [
    { id: 'number', title: 'Layer', figures: true, render: ({ number }) => number },
    { id: 'at', title: 'Published', render: ({ published_at: at }) => showMinute(at, zone) },
    { id: 'actor', title: 'By', priority: 2, render: ({ actor }) => actor },
    { id: 'note', title: 'Note', grows: true, priority: 2, render: noteOf },
    { id: 'used', title: 'Used by', priority: 3, render: ({ used_by: nodes }) => nodes.join(', ') || 'no gateway' },
    {
      id: 'problems',
      title: 'Problems',
      priority: 3,
      render: ({ problems }) => problems.map(({ node, detail }) => `${node}: ${detail}`).join('; ') || 'none',
    },
  ];
  return (
    <DataTable
      caption="Layers, newest first"
      columns={columns}
      rows={layers}
      keyOf={({ number }) => String(number)}
      openKey={open === undefined ? undefined : String(open.number)}
      onOpen={onOpen}
    />
  );
}
