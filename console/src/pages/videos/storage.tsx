import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import { useSession } from '../../components/use-page.ts';
import { placeOf } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Panel } from '../../ui/panel.tsx';
import { showBytes } from './video-words.ts';

const usersMax = 20;
const nearlyFull = 0.8;

type Row = { readonly user: string; readonly bytes: number; readonly limit: number | null };

/** What the files of the users on the page take, against their quotas. */
export function Storage({ users }: { readonly users: readonly string[] }) {
  const session = useSession();
  const named = users.toSorted((a, b) => (a < b ? -1 : 1)).slice(0, usersMax);
  const storage = useQuery({ ...question('videos.storage', { query: { user: named } }), staleTime: 30_000, enabled: named.length > 0 });
  const list = useQuery({ ...question('users.list', {}), staleTime: 60_000, enabled: may(session, 'keys:read') });
  if (storage.error !== null) return <Failure error={storage.error} onRetry={() => void storage.refetch()} />;
  const rows = (storage.data?.items ?? []).map(({ user, bytes }): Row => {
    const known = list.data?.items.find(({ name }) => name === user);
    return { user, bytes, limit: known?.limits.media_bytes_max ?? null };
  });
  if (rows.length === 0) return null;
  const columns: readonly Column<Row>[] = [
    { id: 'user', title: 'User', grows: true, render: ({ user }) => <Link {...placeOf.user(user)}>{user}</Link> },
    { id: 'bytes', title: 'Files', figures: true, render: ({ bytes }) => showBytes(bytes) },
    { id: 'limit', title: 'Quota', figures: true, render: ({ limit }) => (limit === null ? 'none' : showBytes(limit)) },
    {
      id: 'share',
      title: 'Used',
      priority: 2,
      render: ({ user, bytes, limit }) =>
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
