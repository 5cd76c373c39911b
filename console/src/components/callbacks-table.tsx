import { useInfiniteQuery } from '@tanstack/react-query';

import { ask, type Reply } from '../api/client.ts';
import { isLost } from '../api/query-client.ts';
import { may } from '../api/sign-in.ts';
import { showMinute } from '../format/times.ts';
import { Button } from '../ui/button.tsx';
import { type Column, DataTable } from '../ui/data-table.tsx';
import { Empty, Skeleton } from '../ui/notice.tsx';
import { State } from '../ui/state.tsx';
import { say } from '../ui/toasts.tsx';
import { Failure } from './failure.tsx';
import { useChange } from './use-change.ts';
import { useSession, useZone } from './use-page.ts';

type Callback = Reply<'callbacks.list'>['items'][number];
type Props = { readonly query: { readonly user?: string; readonly state?: Callback['state']; readonly subject?: string } };

const states = {
  waiting: { sign: '◐', word: 'waiting', tone: 'neutral' },
  delivered: { sign: '●', word: 'delivered', tone: 'good' },
  given_up: { sign: '✗', word: 'given up', tone: 'bad' },
} as const;

/** Events for the addresses of clients, newest first; each can be sent again. */
export function CallbacksTable({ query }: Props) {
  const pages = useInfiniteQuery({
    queryKey: ['callbacks.list', query],
    queryFn: ({ pageParam, signal }) =>
      ask('callbacks.list', { query: { ...query, limit: 50, ...(pageParam !== '' && { cursor: pageParam }) }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'callbacks.list'>) => cursor ?? undefined,
  });
  const rows = pages.data?.pages.flatMap(({ items }) => items);
  if (isLost(pages.error, pages.data)) return <Failure error={pages.error} onRetry={() => void pages.refetch()} />;
  if (rows === undefined) return <Skeleton rows={6} />;
  if (rows.length === 0)
    return <Empty title="No event was sent.">A request for a video or a background response may name a callback address.</Empty>;
  return (
    <>
      <Rows rows={rows} showsUser={query.user === undefined} />
      {pages.hasNextPage && (
        <div>
          <Button busy={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
            More
          </Button>
        </div>
      )}
    </>
  );
}

function Rows({ rows, showsUser }: { readonly rows: readonly Callback[]; readonly showsUser: boolean }) {
  const zone = useZone();
  const mayRepeat = may(useSession(), 'keys:write');
  const change = useChange('callbacks.redeliver', ['callbacks']);
  const columns: readonly Column<Callback>[] = [
    { id: 'at', title: 'Made', render: ({ created_at: at }) => <time dateTime={at}>{showMinute(at, zone)}</time> },
    ...(showsUser ? [{ id: 'user', title: 'User', grows: true, priority: 2, render: ({ user }: Callback) => user } as const] : []),
    { id: 'event', title: 'Event', render: ({ event }) => event },
    { id: 'subject', title: 'About', grows: true, priority: 3, render: ({ subject }) => <code>{subject}</code> },
    { id: 'state', title: 'State', render: ({ state }) => <State {...states[state]} /> },
    { id: 'attempts', title: 'Attempts', figures: true, priority: 3, render: ({ attempts }) => attempts },
    {
      id: 'last',
      title: 'Last answer',
      priority: 2,
      render: ({ last_status: status, last_problem: problem }) => problem ?? (status === null ? '—' : `status ${status}`),
    },
    ...(mayRepeat
      ? [
          {
            id: 'again',
            title: 'Send again',
            render: ({ id, event }: Callback) => (
              <Button
                kind="quiet"
                icon="refresh"
                label={`Send ${event} again`}
                busy={change.busy}
                onClick={() => void change.run({ params: { id } }).then((done) => done !== undefined && say(`${event} is sent again`))}
              />
            ),
          },
        ]
      : []),
  ];
  return (
    <>
      {change.problem !== undefined && <Failure error={change.problem} />}
      <DataTable caption="Callbacks, newest first" columns={columns} rows={rows} keyOf={({ id }) => id} />
    </>
  );
}
