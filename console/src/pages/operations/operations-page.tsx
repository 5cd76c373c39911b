import { Link } from '@tanstack/react-router';

import { Failure } from '../../components/failure.tsx';
import { type FilterField, FilterBar } from '../../components/filter-bar.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { many, one } from '../../components/search-params.ts';
import { useAddress, useMinute, useZone } from '../../components/use-page.ts';
import { usePages } from '../../components/use-pages.ts';
import { showCount, showDuration } from '../../format/numbers.ts';
import { showAgo, showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Split } from '../../ui/split.tsx';
import { State } from '../../ui/state.tsx';
import { OperationPanel } from './operation-panel.tsx';
import { aboutOf, kindNames, placeOfWork, textOfKind, type Work, workStates } from './work-words.ts';

const states = Object.keys(workStates) as readonly Work['state'][];
const filters: readonly FilterField[] = [
  { name: 'kind', text: 'kind', values: kindNames },
  { name: 'state', text: 'state', values: states, repeats: true },
];

/** How often the list is asked again while work of it goes on, and otherwise. */
const openMs = 2000;
const idleMs = 15_000;

/** Work that takes longer than a request: what runs, what has ended, and how. */
export function OperationsPage() {
  const [search, change] = useAddress();
  const open = one(search, 'operation');
  return (
    <Split panel={open !== undefined && <OperationPanel key={open} id={open} onClose={() => change({ operation: undefined })} />}>
      <PageHead title="Long work" />
      <FilterBar fields={filters} />
      <List open={open} />
    </Split>
  );
}

function List({ open }: { readonly open: string | undefined }) {
  const [search, change] = useAddress();
  const zone = useZone();
  const nowMs = useMinute();
  const kind = one(search, 'kind');
  const wanted = states.filter((state) => many(search, 'state').includes(state));
  const query = { ...(kind !== undefined && { kind }), ...(wanted.length > 0 && { state: wanted }) };
  const pages = usePages('operations.list', { query }, 50, (work: Work) => (work.ended_at === null ? openMs : idleMs));
  if (pages.isError && pages.data === undefined) return <Failure error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Skeleton rows={8} />;
  const rows = pages.data.pages.flatMap(({ items }) => items);
  if (rows.length === 0)
    return Object.keys(query).length > 0 ? (
      <Empty title="No work fits.">Remove a filter.</Empty>
    ) : (
      <Empty title="No long work in the last 7 days." line="weir operations list">
        Checks of upstreams, tests of models, staged prices and comparisons with vendors run as long work, and stay here for 7 days.
      </Empty>
    );
  const columns: readonly Column<Work>[] = [
    { id: 'work', title: 'Work', render: (work) => textOfKind(work.kind) },
    { id: 'about', title: 'About', render: (work) => <About work={work} /> },
    { id: 'state', title: 'State', render: (work) => <State {...workStates[work.state]} /> },
    { id: 'progress', title: 'Progress', figures: true, priority: 2, render: progressOf },
    { id: 'by', title: 'By', priority: 3, render: ({ actor }) => actor },
    {
      id: 'began',
      title: 'Began',
      priority: 2,
      render: ({ created_at: at }) => <span title={showAgo(at, nowMs)}>{showMinute(at, zone)}</span>,
    },
    { id: 'took', title: 'Took', figures: true, priority: 3, render: tookOf },
  ];
  return (
    <>
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      <DataTable
        caption="Long work, newest first"
        columns={columns}
        rows={rows}
        keyOf={({ id }) => id}
        openKey={open}
        onOpen={({ id }) => change({ operation: id }, open !== undefined)}
      />
      {pages.hasNextPage && (
        <p>
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            More
          </Button>
        </p>
      )}
    </>
  );
}

/** The object of work, as a link to where its result is shown. */
function About({ work }: { readonly work: Work }) {
  const place = placeOfWork(work);
  const about = aboutOf(work) ?? '—';
  return place === undefined ? about : <Link {...place}>{about}</Link>;
}

function progressOf({ progress, ended_at: ended }: Work): string {
  if (progress === null) return ended === null ? 'not begun' : '—';
  const { done, total, unit } = progress;
  return `${showCount(done)}${total === null ? '' : ` of ${showCount(total)}`} ${unit}`;
}

function tookOf({ started_at: started, ended_at: ended }: Work): string {
  return started === null || ended === null ? '—' : showDuration(Date.parse(ended) - Date.parse(started));
}
