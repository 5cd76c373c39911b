import { useState } from 'react';

import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { InlineSelect } from '../../ui/field.tsx';
import { Notice, Skeleton } from '../../ui/notice.tsx';
import { Document } from '../../ui/document.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { SidePanel } from '../../ui/split.tsx';
import { RollbackDialog } from './layer-dialogs.tsx';
import { Difference } from './layer-difference.tsx';
import { type Layer, noteOf, useLayer } from './layer-words.ts';
import styles from './settings.module.css';

type Props = {
  readonly layer: Layer;
  readonly layers: readonly Layer[];
  readonly version: string | undefined;
  readonly mayPublish: boolean;
  readonly onClose: () => void;
};

/** One layer: what it has, how it differs from another one, and its publication again. */
export function LayerPanel({ layer, layers, version, mayPublish, onClose }: Props) {
  const zone = useZone();
  const [isRestoring, setIsRestoring] = useState(false);
  const { data, error, refetch } = useLayer(layer.number);
  const newest = layers[0]?.number === layer.number;
  return (
    <SidePanel label="Layer" title={`Layer ${layer.number}`} onClose={onClose}>
      <Facts
        rows={[
          ['Published', `${showMinute(layer.published_at, zone)} by ${layer.actor}`],
          ['Note', noteOf(layer)],
          ['Used by', layer.used_by.join(', ') || 'no gateway'],
        ]}
      />
      {layer.problems.map(({ node, detail }) => (
        <Notice key={node} tone="bad">
          {node}: {detail}
        </Notice>
      ))}
      {data?.hidden.map(({ node, paths }) => (
        <Notice key={node} tone="info">
          The file of {node} overrides {paths.join(', ')}.
        </Notice>
      ))}
      {mayPublish && !newest && (
        <p className={styles['actions']}>
          <Button icon="undo" onClick={() => setIsRestoring(true)}>
            Publish this one again
          </Button>
        </p>
      )}
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={6} />}
      {data !== undefined && (
        <>
          <Comparison layer={layer} layers={layers} document={data.layer} />
          <Panel title="Whole layer">
            <Document value={data.layer} />
          </Panel>
        </>
      )}
      {isRestoring && <RollbackDialog number={layer.number} newest={layers[0]} version={version} onClose={() => setIsRestoring(false)} />}
    </SidePanel>
  );
}

type ComparisonProps = { readonly layer: Layer; readonly layers: readonly Layer[]; readonly document: unknown };

function Comparison({ layer, layers, document }: ComparisonProps) {
  const [search, change] = useAddress();
  const others = layers.filter(({ number }) => number !== layer.number);
  const before = others.find(({ number }) => number < layer.number);
  const against = others.find(({ number }) => String(number) === one(search, 'against')) ?? before;
  const other = useLayer(against?.number);
  if (others.length === 0) return null;
  return (
    <Panel
      title="Difference"
      tools={
        <InlineSelect
          label="Compared with"
          value={String(against?.number ?? '')}
          options={[
            ...(against === undefined ? [{ value: '', text: 'choose a layer' }] : []),
            ...others.map(({ number }) => ({ value: String(number), text: `since layer ${number}` })),
          ]}
          onChange={(value) => change({ against: value }, true)}
        />
      }
    >
      {other.error !== null && <Failure error={other.error} onRetry={() => void other.refetch()} />}
      {against !== undefined && other.data === undefined && other.error === null && <Skeleton rows={3} />}
      {other.data !== undefined && <Difference before={other.data.layer} after={document} />}
    </Panel>
  );
}
