import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useState } from 'react';

import { ask, type Reply } from '../../api/client.ts';
import { lacks } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { type FilterField, FilterBar, readFilters } from '../../components/filter-bar.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { useAddress, useMinute, useSession, useZone } from '../../components/use-page.ts';
import { showAgo, showDay, showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { describeLimits, type Key, keyStates } from './key-words.ts';
import { NewKeyDialog } from './new-key-dialog.tsx';

const filters: readonly FilterField[] = [
  { name: 'user', text: 'user' },
  { name: 'state', text: 'state', values: ['enabled', 'disabled'] },
];

/** Who may call what, until when. */
export function KeysPage() {
  const session = useSession();
  const navigate = useNavigate();
  const [search] = useAddress();
  const [isMaking, setIsMaking] = useState(false);
  const refused = lacks(session, 'keys:write');
  const query = readFilters(filters, search);
  const pages = useInfiniteQuery({
    queryKey: ['keys.list', query],
    queryFn: ({ pageParam, signal }) =>
      ask('keys.list', { query: { ...query, limit: 100, ...(pageParam !== '' && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'keys.list'>) => cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  useKeys({ n: () => refused === undefined && setIsMaking(true) });
  const rows = pages.data?.pages.flatMap(({ items }) => items);
  return (
    <>
      <PageHead title="Keys">
        <Button kind="main" icon="plus" disabledBecause={refused} onClick={() => setIsMaking(true)}>
          New key
        </Button>
      </PageHead>
      <FilterBar fields={filters} />
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {rows === undefined && !pages.isError && <Skeleton rows={12} />}
      {rows?.length === 0 && (
        <Empty title="No key fits." line="weir keys create ann ci">
          A key lets a program call, in the name of the user who pays. Make the first one.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && <KeysTable rows={rows} onOpen={({ id }) => void navigate({ to: paths.key(id) })} />}
      {pages.hasNextPage && (
        <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          More
        </Button>
      )}
      <NewKeyDialog open={isMaking} onClose={() => setIsMaking(false)} />
    </>
  );
}

const soonMs = 7 * 86_400_000;

function KeysTable({ rows, onOpen }: { readonly rows: readonly Key[]; readonly onOpen: (key: Key) => void }) {
  const zone = useZone();
  const nowMs = useMinute();
  const columns: readonly Column<Key>[] = [
    { id: 'key', title: 'Key', render: ({ id, user, name }) => <Link to={paths.key(id)}>{`${user}/${name}`}</Link> },
    {
      id: 'ends',
      title: 'Ends in',
      priority: 2,
      render: ({ ends_in: end, issuer }) => (issuer === null ? <code>…{end}</code> : `tokens of ${issuer}`),
    },
    { id: 'state', title: 'State', render: ({ state }) => <State {...keyStates[state]} /> },
    { id: 'team', title: 'Team', priority: 3, render: ({ team }) => team ?? '—' },
    {
      id: 'limits',
      title: 'Limits',
      priority: 2,
      render: ({ limits }) => <span title={describeLimits(limits)}>{describeLimits(limits)}</span>,
    },
    {
      id: 'used',
      title: 'Last used',
      priority: 3,
      render: ({ last_used_at: at }) =>
        at === null ? (
          'never'
        ) : (
          <time dateTime={at} title={showMinute(at, zone)}>
            {showAgo(at, nowMs)}
          </time>
        ),
    },
    {
      id: 'expires',
      title: 'Expires',
      priority: 3,
      render: ({ limits: { expires_at: at } }) => {
        if (at === null) return '—';
        const isSoon = Date.parse(at) - nowMs < soonMs;
        return isSoon ? <State sign="▲" word={showMinute(at, zone)} tone="warning" /> : showDay(at, zone);
      },
    },
  ];
  return <DataTable caption="API keys" columns={columns} rows={rows} keyOf={({ id }) => id} onOpen={onOpen} />;
}
