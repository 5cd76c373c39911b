import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { Failure } from '../../components/failure.tsx';
import { placeOf } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Panel } from '../../ui/panel.tsx';
import { showBytes } from './video-words.ts';

const usersMax = 20;
const nearlyFull = 0.8;

type Row = Reply<'videos.storage'>['items'][number];

/** What the files of the users on the page take, against their quotas. */
export function Storage({ users }: { readonly users: readonly string[] }) {
  const named = users.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, usersMax);
  const storage = useQuery({ ...question('videos.storage', { query: { user: named } }), staleTime: 30_000, enabled: named.length > 0 });
  if (storage.error !== null) return <Failure error={storage.error} onRetry={() => void storage.refetch()} />;
  const rows = storage.data?.items ?? [];
  if (rows.length === 0) return null;
  const columns: readonly Column<Row>[] = [
    { id: 'user', title: 'User', grows: true, render: ({ user }) => <Link {...placeOf.user(user)}>{user}</Link> },
    { id: 'bytes', title: 'Files', figures: true, render: ({ bytes }) => showBytes(bytes) },
    { id: 'limit', title: 'Quota', figures: true, render: ({ bytes_max: limit }) => (limit === null ? 'none' : showBytes(limit)) },
    {
      id: 'share',
      title: 'Used',
      priority: 2,
      render: ({ user, bytes, bytes_max: limit }) =>
        limit === null || limit === 0 ? (
          '—'
        ) : (
          <Meter label={`Quota used by ${user}`} share={bytes / limit} tone={bytes >= limit * nearlyFull ? 'warning' : 'plain'} />
        ),
    },
  ];
  return (
    <Panel title="Storage">
      <DataTable caption="Storage by user" columns={columns} rows={rows} keyOf={({ user }) => user} />
    </Panel>
  );
}
