import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, usePathPart, useZone } from '../../components/use-page.ts';
import { showCount } from '../../format/numbers.ts';
import { showClock } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { CheckPanel } from './check-panel.tsx';
import { HistoryPanel } from './history-panel.tsx';
import { ModelsPanel } from './models-panel.tsx';
import { ReplaceKey } from './replace-key-dialog.tsx';
import { SecretsPanel } from './secrets-panel.tsx';
import { SettingsTable } from './settings-table.tsx';
import { useTargetDays, useTargets } from './target-questions.ts';
import { targetStates, type Target } from './target-words.ts';
import { TargetsTable } from './targets-table.tsx';
import styles from './upstreams-page.module.css';

const newTries = 20;
const newTryMs = 500;
/** Gateways report what they use; a published key is theirs within two seconds. */
const askedEveryMs = 5000;

/** One upstream: its targets by gateway, its settings with their sources, and the doctor. */
export function UpstreamPage() {
  const name = usePathPart('name');
  const [search] = useAddress();
  const isNew = one(search, 'added') === '1';
  const { data } = useSuspenseQuery({
    ...question('upstreams.get', { params: { name } }),
    refetchInterval: askedEveryMs,
    // Gateways take a new one within two seconds.
    ...(isNew && { retry: (failures: number) => failures < newTries, retryDelay: newTryMs }),
  });
  const list = useQuery(question('upstreams.list', {}));
  const variants = (list.data?.items ?? []).filter((each) => each.name === name);
  return (
    <>
      <PageHead title={name}>
        <ReplaceKey upstream={name} />
      </PageHead>
      {variants.length > 1 && (
        <Notice tone="warning">
          Gateways use {variants.length} different settings of this upstream. Shown are those that most of them use.
        </Notice>
      )}
      <Targets upstream={name} />
      <HistoryPanel upstream={name} />
      <CheckPanel upstream={name} isNew={isNew} />
      <SecretsPanel secrets={data.secrets} />
      <ModelsPanel upstream={name} />
      <div className={styles['columns']}>
        <Panel title="Settings in force">
          <SettingsTable upstream={name} settings={data.settings} />
        </Panel>
        <About upstream={data} />
      </div>
    </>
  );
}

function About({ upstream: { name, title, address, dialects, credentials, nodes } }: { readonly upstream: Reply<'upstreams.get'> }) {
  return (
    <Panel title="Upstream">
      <Facts
        rows={[
          ['Vendor', title],
          ['Address', address],
          ['Interfaces', dialects.join(', ')],
          ['Credentials', credentials.join(', ') || 'none'],
          ['Gateways', showCount(nodes.length)],
        ]}
      />
      <p className={styles['links']}>
        <Link to={paths.calls} search={{ upstream: name, r: '24h' }}>
          Calls of 24 hours
        </Link>
        <Link to={paths.usage} search={{ upstream: name, by: 'upstream_model', r: '7d' }}>
          Usage of 7 days
        </Link>
      </p>
    </Panel>
  );
}

function Targets({ upstream }: { readonly upstream: string }) {
  const targets = useTargets({ upstream });
  const days = useTargetDays(upstream);
  const { data } = targets;
  return (
    <Panel title="Targets">
      {targets.isError && <Failure error={targets.error} onRetry={() => void targets.refetch()} />}
      {data === undefined && !targets.isError && <Skeleton rows={4} />}
      {data?.items.length === 0 && <Empty title="No gateway has used a target of it yet.">A target appears with its first call.</Empty>}
      {data !== undefined && data.items.length > 0 && (
        <>
          <TargetsTable targets={data.items} days={days} asOf={data.as_of} />
          <ByNode targets={data.items} />
        </>
      )}
    </Panel>
  );
}

type NodeRow = Target['nodes'][number] & { readonly target: string };

/** What each gateway sees, where there are several. */
function ByNode({ targets }: { readonly targets: readonly Target[] }) {
  const zone = useZone();
  const rows = targets.flatMap(({ id, nodes }) => (nodes.length < 2 ? [] : nodes.map((node): NodeRow => ({ ...node, target: id }))));
  if (rows.length === 0) return null;
  const columns: readonly Column<NodeRow>[] = [
    { id: 'target', title: 'Target', grows: true, render: ({ target }) => target },
    { id: 'node', title: 'Gateway', priority: 2, render: ({ node }) => <code>{node}</code> },
    {
      id: 'state',
      title: 'State',
      render: ({ state, is_silent: isSilent }) => <State {...targetStates[isSilent ? 'silent' : state]} />,
    },
    { id: 'calls', title: 'Under way', figures: true, priority: 2, render: ({ calls_under_way: calls }) => showCount(calls) },
    {
      id: 'failures',
      title: 'Failures in a row',
      figures: true,
      priority: 3,
      render: ({ consecutive_failures: count }) => showCount(count),
    },
    { id: 'at', title: 'As of', figures: true, priority: 3, render: ({ reported_at: at }) => showClock(at, zone) },
  ];
  return (
    <details className={styles['note']}>
      <summary>By gateway</summary>
      <DataTable caption="Targets by gateway" columns={columns} rows={rows} keyOf={({ target, node }) => `${target} ${node}`} />
    </details>
  );
}
