import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { may, mayPlay } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { CallEnd } from '../../components/call-end.tsx';
import { Failure } from '../../components/failure.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { Standing } from '../../components/limits/standing.tsx';
import { useMinute, useSession, useZone } from '../../components/use-page.ts';
import { showAgo, showDay, showRowTime } from '../../format/times.ts';
import { paths, placeOf } from '../../paths.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { unrecordedUse } from '../keys/key-words.ts';
import styles from './overview-page.module.css';

const listed = 8;
/** The limits of so many users stand on the page; the others have pages of their own. */
const usersShown = 4;

/** What a person sees below the figures who owns some users: their limits, keys, refusals and calls, and no others. */
export function OwnerPanels({ users }: { readonly users: readonly string[] }) {
  const session = useSession();
  const [first] = users;
  if (first === undefined)
    return (
      <Empty title="You are not the owner of a user yet.">
        An operator can make you one. Then its spend, limits, keys and calls are here.
      </Empty>
    );
  return (
    <>
      <div className={styles['row']}>
        <RecentCalls />
        {may(session, 'credits:read') && (
          <Panel title={users.length === 1 ? 'Limits' : 'Limits of your users'}>
            {users.slice(0, usersShown).map((user) => (
              <section key={user} className={styles['ownUser']} aria-label={`Limits of ${user}`}>
                <h3>
                  <Link {...placeOf.user(user)}>{user}</Link>
                </h3>
                <Standing user={user} />
              </section>
            ))}
            {users.length > usersShown && <Link to={paths.users}>All {users.length} users</Link>}
          </Panel>
        )}
      </div>
      <div className={styles['lower']}>
        {may(session, 'keys:read') && <OwnKeys />}
        <OwnRefusals />
      </div>
    </>
  );
}

function RecentCalls() {
  const session = useSession();
  const zone = useZone();
  const { data, error, refetch } = useQuery({ ...question('calls.list', { query: { limit: listed } }), refetchInterval: 15_000 });
  return (
    <Panel title="Recent calls" tools={<Link to={paths.calls}>All calls</Link>}>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={listed} />}
      {data?.items.length === 0 && (
        <Empty title="You have not called a model yet.">
          {mayPlay(session) ? (
            <Link to={paths.playground}>Try one in the playground</Link>
          ) : (
            'Calls appear here a few seconds after they end.'
          )}
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <DataTable
          caption="Recent calls"
          rows={data.items}
          keyOf={({ id }) => id}
          columns={[
            {
              id: 'time',
              title: 'Time',
              render: ({ id, at }) => (
                <Link {...placeOf.call(id)} className="figures">
                  {showRowTime(at, zone)}
                </Link>
              ),
            },
            { id: 'key', title: 'Key', grows: true, priority: 3, render: ({ user, key }) => <KeyName user={user} name={key} /> },
            { id: 'model', title: 'Model', grows: true, render: ({ model }) => model },
            { id: 'end', title: 'End', priority: 2, render: ({ end }) => <CallEnd end={end} /> },
            { id: 'amount', title: 'Amount', figures: true, render: ({ amount }) => <Amount money={amount} /> },
          ]}
        />
      )}
    </Panel>
  );
}

type Key = Reply<'keys.list'>['items'][number];

const keyStates = {
  active: { sign: '●', word: 'active', tone: 'good' },
  disabled: { sign: '○', word: 'disabled', tone: 'muted' },
  expired: { sign: '✗', word: 'expired', tone: 'bad' },
} as const;

function OwnKeys() {
  const zone = useZone();
  const nowMs = useMinute();
  const mayMake = may(useSession(), 'keys:write');
  const { data, error, refetch } = useQuery(question('keys.list', { query: { limit: listed } }));
  const used = (key: Key): string => (key.last_used_at === null ? unrecordedUse(key) : showAgo(key.last_used_at, nowMs));
  return (
    <Panel title="Keys" tools={<Link to={paths.keys}>{mayMake ? 'All keys, and new ones' : 'All keys'}</Link>}>
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data?.items.length === 0 && (
        <Empty title="You have no key yet.">
          {mayMake ? <Link to={paths.keys}>Make one for your application</Link> : 'An operator makes keys for you.'}
        </Empty>
      )}
      {data !== undefined && data.items.length > 0 && (
        <DataTable
          caption="Your keys"
          rows={data.items}
          keyOf={({ id }) => id}
          columns={[
            {
              id: 'key',
              title: 'Key',
              grows: true,
              render: ({ id, user, name }) => (
                <Link {...placeOf.key(id)}>
                  <KeyName user={user} name={name} />
                </Link>
              ),
            },
            { id: 'state', title: 'State', render: ({ state }) => <State {...keyStates[state]} /> },
            { id: 'used', title: 'Last used', priority: 2, render: used },
            {
              id: 'expires',
              title: 'Expires',
              priority: 3,
              render: ({ limits: { expires_at: at } }) => (at === null ? '—' : showDay(at, zone)),
            },
          ]}
        />
      )}
    </Panel>
  );
}

function OwnRefusals() {
  const zone = useZone();
  const { data, error, refetch } = useQuery({ ...question('refusals.list', { query: { limit: listed } }), refetchInterval: 15_000 });
  return (
    <Panel
      title="Refused lately"
      tools={
        <Link to={paths.calls} search={{ tab: 'refused' }}>
          All refusals
        </Link>
      }
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Skeleton rows={4} />}
      {data?.items.length === 0 && <State sign="✓" word="Nothing was refused." tone="good" />}
      {data !== undefined && data.items.length > 0 && (
        <DataTable
          caption="Refused lately"
          rows={data.items}
          keyOf={({ request_id: id }) => id}
          columns={[
            {
              id: 'time',
              title: 'Time',
              render: ({ at, request_id: id }) => <Link {...placeOf.refusal(id)}>{showRowTime(at, zone)}</Link>,
            },
            { id: 'status', title: 'Status', figures: true, render: ({ status }) => status },
            {
              id: 'key',
              title: 'Key',
              grows: true,
              priority: 3,
              render: ({ user, key }) => (key === null ? '—' : <KeyName user={user ?? ''} name={key} />),
            },
            { id: 'why', title: 'Why', grows: true, render: ({ message }) => <span title={message}>{message}</span> },
          ]}
        />
      )}
    </Panel>
  );
}
