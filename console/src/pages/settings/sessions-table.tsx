import { useQuery } from '@tanstack/react-query';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';

type Session = Reply<'people.list_sessions'>['items'][number];

/** Where a person is signed in. */
export function SessionsTable({ id }: { readonly id: string }) {
  const zone = useZone();
  const { data, error, refetch } = useQuery(question('people.list_sessions', { params: { id } }));
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={3} />;
  if (data.items.length === 0) return <Empty title="There is no session." />;
  const columns: readonly Column<Session>[] = [
    {
      id: 'from',
      title: 'From',
      render: ({ address, is_present: isPresent }) => `${address ?? 'unknown'}${isPresent ? ' (this browser)' : ''}`,
    },
    { id: 'way', title: 'By', render: ({ way }) => way },
    { id: 'used', title: 'Last used', render: ({ used_at: at }) => showMinute(at, zone) },
    { id: 'begun', title: 'Began', priority: 2, render: ({ created_at: at }) => showMinute(at, zone) },
    { id: 'agent', title: 'Browser', priority: 3, render: ({ user_agent: agent }) => <span title={agent ?? ''}>{agent ?? '—'}</span> },
  ];
  return <DataTable caption="Sessions" columns={columns} rows={data.items} keyOf={(session) => session.id} />;
}
