import { useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { type FilterField, FilterBar, readFilters } from '../../components/filter-bar.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession } from '../../components/use-page.ts';
import { showCount, showDuration } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { AddUpstreamDialog } from './add-upstream-dialog.tsx';
import { oldestSecret, secretAge } from './secret-words.ts';
import { useTargetDays, useTargets } from './target-questions.ts';
import { targetStates, type Target, worstState } from './target-words.ts';
import { TargetsTable } from './targets-table.tsx';
import styles from './upstreams-page.module.css';

type Upstream = Reply<'upstreams.list'>['items'][number];

const filters: readonly FilterField[] = [
  { name: 'state', text: 'state', values: ['healthy', 'suspect', 'rate-limited', 'failing', 'rejected', 'out'] },
  { name: 'upstream', text: 'upstream' },
  { name: 'node', text: 'gateway', placeholder: 'id of a gateway' },
];

/** Which of them works, and what to do about the others. */
export function UpstreamsPage() {
  const [search, change] = useAddress();
  const mayAdd = may(useSession(), 'config:write');
  const query = readFilters(filters, search);
  const upstreams = useQuery({ ...question('upstreams.list', {}), refetchInterval: 15_000 });
  const all = useTargets({});
  const chosen = useTargets(query);
  const days = useTargetDays();
  const isFiltered = Object.keys(query).length > 0;
  const { data } = upstreams;
  return (
    <>
      <PageHead title="Upstreams">
        {mayAdd && (
          <Button kind="main" icon="plus" onClick={() => change({ add: '1' })}>
            Add an upstream
          </Button>
        )}
      </PageHead>
      {mayAdd && one(search, 'add') === '1' && <AddUpstreamDialog onClose={() => change({ add: undefined })} />}
      {data?.items.some(({ is_simulated: isSimulated }) => isSimulated) === true && (
        <SimulatedNotice onAdd={mayAdd ? () => change({ add: '1' }) : undefined} />
      )}
      {upstreams.isError && <Failure error={upstreams.error} onRetry={() => void upstreams.refetch()} />}
      {data === undefined && !upstreams.isError && <Skeleton rows={6} />}
      {data !== undefined && <UpstreamsTable upstreams={data.items} targets={all.data?.items ?? []} />}
      <Panel title="Targets">
        <div className={styles['stack']}>
          <p className={styles['note']}>
            A target is a model at an upstream, with one of its credentials. Those that gateways have used are here.
          </p>
          <FilterBar fields={filters} />
          {chosen.isError && <Failure error={chosen.error} onRetry={() => void chosen.refetch()} />}
          {chosen.data === undefined && !chosen.isError && <Skeleton rows={8} />}
          {chosen.data !== undefined && chosen.data.items.length > 0 && (
            <TargetsTable targets={chosen.data.items} days={days} asOf={chosen.data.as_of} />
          )}
          {chosen.data?.items.length === 0 && (
            <Empty title={isFiltered ? 'No target fits.' : 'No gateway has used a target yet.'}>
              {isFiltered ? 'Remove a filter.' : 'A target appears with its first call.'}
            </Empty>
          )}
        </div>
      </Panel>
    </>
  );
}

function SimulatedNotice({ onAdd }: { readonly onAdd: (() => void) | undefined }) {
  return (
    <Notice tone="info" action={onAdd !== undefined && <Button onClick={onAdd}>Add a vendor key</Button>}>
      Vendors are simulated, because no upstream is configured: answers are made up, and cost nothing outside of these books.
    </Notice>
  );
}

function UpstreamsTable({ upstreams, targets }: { readonly upstreams: readonly Upstream[]; readonly targets: readonly Target[] }) {
  const navigate = useNavigate();
  const targetsOf = ({ name }: Upstream): readonly Target[] => targets.filter(({ upstream }) => upstream === name);
  if (upstreams.length === 0)
    return (
      <Empty title="No gateway is running that has an upstream." line="weir gateway">
        Upstreams are shown as running gateways use them.
      </Empty>
    );
  const columns: readonly Column<Upstream>[] = [
    { id: 'name', title: 'Upstream', grows: true, render: ({ name }) => <Link to={paths.upstream(name)}>{name}</Link> },
    {
      id: 'state',
      title: 'Worst state',
      render: (upstream) => <State {...targetStates[worstState(targetsOf(upstream)) ?? 'unused']} />,
    },
    { id: 'vendor', title: 'Vendor', priority: 2, render: ({ title }) => title },
    { id: 'address', title: 'Address', grows: true, priority: 3, render: ({ address }) => <span title={address}>{address}</span> },
    { id: 'credentials', title: 'Credentials', figures: true, priority: 3, render: ({ credentials }) => showCount(credentials.length) },
    {
      id: 'secret',
      title: 'Secret read',
      figures: true,
      priority: 3,
      render: ({ secrets }) => {
        const oldest = oldestSecret(secrets);
        return oldest === undefined ? '—' : secretAge(oldest, showDuration);
      },
    },
    { id: 'targets', title: 'Targets used', figures: true, priority: 2, render: (upstream) => showCount(targetsOf(upstream).length) },
    { id: 'nodes', title: 'Gateways', figures: true, priority: 3, render: ({ nodes }) => showCount(nodes.length) },
  ];
  return (
    <DataTable
      caption="Upstreams"
      columns={columns}
      rows={upstreams}
      keyOf={({ name, nodes }) => `${name} ${nodes.join(' ')}`}
      onOpen={({ name }) => void navigate({ to: paths.upstream(name) })}
    />
  );
}
