import { useQuery } from '@tanstack/react-query';
import { useState } from 'react';

import type { Reply } from '../../api/client.ts';
import { isLost, question } from '../../api/query-client.ts';
import { ChangeDialog } from '../../components/change-dialog.tsx';
import { Failure } from '../../components/failure.tsx';
import { useZone } from '../../components/use-page.ts';
import { showMinute } from '../../format/times.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { say } from '../../ui/toasts.tsx';

type Session = Reply<'sessions.list'>['items'][number];
type TableProps = { readonly items: readonly Session[] | undefined; readonly onEnd?: (session: Session) => void };

/** Where a person is signed in. */
export function SessionsTable({ id }: { readonly id: string }) {
  const { data, error, refetch } = useQuery(question('people.list_sessions', { params: { id } }));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  return <Rows items={data?.items} />;
}

/** Where the person at this browser is signed in. Each session can be ended; this browser's signs out. */
export function OwnSessions() {
  const { data, error, refetch } = useQuery(question('sessions.list', {}));
  const [ending, setEnding] = useState<Session>();
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  return (
    <>
      <Rows items={data?.items} onEnd={setEnding} />
      {ending !== undefined && <EndDialog session={ending} onClose={() => setEnding(undefined)} />}
    </>
  );
}

function EndDialog({ session, onClose }: { readonly session: Session; readonly onClose: () => void }) {
  const { id, address, is_present: isPresent } = session;
  return (
    <ChangeDialog
      open
      onClose={onClose}
      title={isPresent ? 'Sign out of this browser?' : 'End this session?'}
      action={isPresent ? 'Sign out' : 'End it'}
      danger
      operation="sessions.end"
      input={{ params: { id } }}
      forgets={isPresent ? [] : ['sessions', 'people']}
      onDone={() => (isPresent ? location.assign('/sign-in') : say('The session has ended'))}
    >
      {() => (
        <p>
          {isPresent
            ? 'You have to sign in again here.'
            : `The browser at ${address ?? 'an unknown address'} has to sign in again. If you do not know it, change your password too.`}
        </p>
      )}
    </ChangeDialog>
  );
}

function Rows({ items, onEnd }: TableProps) {
  const zone = useZone();
  if (items === undefined) return <Skeleton rows={3} />;
  if (items.length === 0) return <Empty title="There is no session." />;
  const columns: readonly Column<Session>[] = [
    {
      id: 'from',
      title: 'From',
      render: ({ address, is_present: isPresent }) => `${address ?? 'unknown'}${isPresent ? ' (this browser)' : ''}`,
    },
    { id: 'way', title: 'By', priority: 2, render: ({ way }) => way },
    { id: 'used', title: 'Last used', render: ({ used_at: at }) => showMinute(at, zone) },
    { id: 'begun', title: 'Began', priority: 2, render: ({ created_at: at }) => showMinute(at, zone) },
    { id: 'agent', title: 'Browser', priority: 3, render: ({ user_agent: agent }) => <span title={agent ?? ''}>{agent ?? '—'}</span> },
    ...(onEnd === undefined
      ? []
      : [
          {
            id: 'end',
            title: 'End',
            render: (session: Session) => (
              <Button
                kind="quiet"
                icon="close"
                label={session.is_present ? 'Sign out of this browser' : `End the session of ${session.address ?? 'an unknown address'}`}
                onClick={() => onEnd(session)}
              />
            ),
          },
        ]),
  ];
  return <DataTable caption="Sessions" columns={columns} rows={items} keyOf={(session) => session.id} />;
}
