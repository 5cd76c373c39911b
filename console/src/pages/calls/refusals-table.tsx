import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { ask, type Reply } from '../../api/client.ts';
import { isLost } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { type FilterField, FilterBar, readFilters } from '../../components/filter-bar.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { useAddress, useSpan, useZone } from '../../components/use-page.ts';
import { showRowTime } from '../../format/times.ts';
import { placeOf } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import styles from './calls-page.module.css';

type Refusal = Reply<'refusals.list'>['items'][number];

const filters: readonly FilterField[] = [
  { name: 'code', text: 'code' },
  { name: 'status', text: 'status', values: ['400', '401', '402', '403', '404', '413', '429', '503'] },
  { name: 'user', text: 'user' },
  { name: 'key_id', text: 'key', placeholder: 'id of a key' },
  { name: 'request_id', text: 'id' },
];

/** Why did I get 401, 429 or 400? */
export function RefusalsTable() {
  const zone = useZone();
  const [search] = useAddress();
  const { from, to } = useSpan('24h');
  const query = { ...readFilters(filters, search), from, to };
  const pages = useInfiniteQuery({
    queryKey: ['refusals.list', query],
    queryFn: ({ pageParam, signal }) =>
      ask('refusals.list', { query: { ...query, limit: 100, ...(pageParam !== '' && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'refusals.list'>) => cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  if (isLost(pages.error, pages.data)) return <Failure error={pages.error} onRetry={() => void pages.refetch()} />;
  if (pages.data === undefined) return <Skeleton rows={12} />;
  const rows = pages.data.pages.flatMap(({ items }) => items);
  return (
    <>
      <FilterBar fields={filters} />
      {rows.length === 0 ? (
        <Empty title="Nothing was refused in this span.">
          Requests that reached an upstream are in the list of calls, with their errors.
        </Empty>
      ) : (
        <DataTable caption="Refused requests, newest first" columns={columnsOf(zone)} rows={rows} keyOf={({ request_id: id }) => id} />
      )}
      {pages.hasNextPage && (
        <p className={styles['more']}>
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            More
          </Button>
        </p>
      )}
    </>
  );
}

const columnsOf = (zone: string): readonly Column<Refusal>[] => [
  {
    id: 'time',
    title: 'Time',
    render: ({ at, request_id: id }) => (
      <Link {...placeOf.refusal(id)}>
        <time dateTime={at}>{showRowTime(at, zone)}</time>
      </Link>
    ),
  },
  { id: 'status', title: 'Status', figures: true, render: ({ status }) => status },
  { id: 'code', title: 'Code', priority: 3, render: ({ code }) => <code>{code}</code> },
  {
    id: 'key',
    title: 'Key',
    grows: true,
    priority: 2,
    render: ({ user, key }) => (user === null ? 'unknown key' : <KeyName user={user} name={key ?? ''} />),
  },
  { id: 'address', title: 'Address', priority: 3, render: ({ address }) => address ?? '—' },
  { id: 'path', title: 'Path', priority: 3, render: ({ path }) => <code>{path}</code> },
  { id: 'message', title: 'What the client was told', wraps: true, render: ({ message }) => message },
];
