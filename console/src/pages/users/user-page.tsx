import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { isLost, question, versionedQuestion } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { CallbacksTable } from '../../components/callbacks-table.tsx';
import styles from '../../components/columns.module.css';
import { Failure } from '../../components/failure.tsx';
import { History } from '../../components/history.tsx';
import { Standing } from '../../components/limits/standing.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { PageTabs, useTab } from '../../components/page-tabs.tsx';
import { TransactionsTable } from '../../components/transactions-table.tsx';
import { UsagePanel } from '../../components/usage-panel.tsx';
import { usePathPart, useSession, useZone } from '../../components/use-page.ts';
import { showDay } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { describeLimits } from '../keys/key-words.ts';
import { KeysTable } from '../keys/keys-table.tsx';
import { CallbackSecret } from './callback-secret.tsx';
import { type User, UserActions } from './user-actions.tsx';

/** One user: what it may use and has used, its keys, its money, its callbacks, and who changed it. */
export function UserPage() {
  const name = usePathPart('name');
  const session = useSession();
  const {
    data: { body: user, version },
  } = useSuspenseQuery(versionedQuestion('users.get', { params: { name } }));
  const tabs = [
    { name: 'limits', text: 'Limits & use' },
    { name: 'keys', text: 'Keys' },
    { name: 'credits', text: 'Credits' },
    { name: 'callbacks', text: 'Callbacks' },
    ...(may(session, 'audit:read') ? [{ name: 'history', text: 'History' } as const] : []),
  ] as const;
  const tab = useTab(tabs);
  return (
    <>
      <PageHead title={user.name}>
        <UserActions user={user} version={version} />
      </PageHead>
      <PageTabs label="Parts of the user" tabs={tabs} open={tab} />
      {tab === 'limits' && <LimitsAndUse user={user} />}
      {tab === 'keys' && <Keys name={user.name} />}
      {tab === 'credits' && <Credits name={user.name} />}
      {tab === 'callbacks' && (
        <>
          <CallbackSecret user={user.name} />
          <CallbacksTable query={{ user: user.name }} />
        </>
      )}
      {tab === 'history' && <History subject={`user:${user.name}`} />}
    </>
  );
}

function LimitsAndUse({ user }: { readonly user: User }) {
  const zone = useZone();
  const seesAll = useSession().users === null;
  return (
    <>
      <div className={styles['columns']}>
        <Panel title="What is left, nearest to its end first">
          <Standing user={user.name} />
        </Panel>
        <Panel title="User">
          <Facts
            rows={[
              [
                'Team',
                user.team === null ? (
                  '—'
                ) : seesAll ? (
                  <Link key="team" to={paths.team(user.team)}>
                    {user.team}
                  </Link>
                ) : (
                  user.team
                ),
              ],
              ['Payment', user.prepaid ? 'prepaid: its balance must cover each call' : 'postpaid: a negative balance is what it owes'],
              ['Balance', user.balance === null ? '—' : <Amount key="balance" money={user.balance} />],
              ['Limits of all its keys', describeLimits(user.limits)],
              ['Made', showDay(user.created_at, zone)],
              [
                'Calls',
                <Link key="calls" to={paths.calls} search={{ user: user.name, r: '30d' }}>
                  its calls
                </Link>,
              ],
              [
                'Refused',
                <Link key="refused" to={paths.calls} search={{ user: user.name, tab: 'refused', r: '7d' }}>
                  requests refused before an upstream
                </Link>,
              ],
            ]}
          />
        </Panel>
      </div>
      <UsagePanel filter={{ user: user.name }} by="model" />
    </>
  );
}

const keysMax = 200;

function Keys({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery(question('keys.list', { query: { user: name, limit: keysMax } }));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={5} />;
  if (data.items.length === 0)
    return (
      <Empty title="It has no key." line={`weir keys create ${name} ci`}>
        Without a key nobody can call in its name.
      </Empty>
    );
  return (
    <>
      <KeysTable rows={data.items} />
      <p>
        <Link to={paths.keys} search={{ user: name }}>
          {data.next_cursor === null ? 'Select and change several of them' : `These are the newest ${keysMax}: see all`}
        </Link>
      </p>
    </>
  );
}

const rowsMax = 100;

function Credits({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery(question('credits.transactions', { params: { name }, query: { limit: rowsMax } }));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={8} />;
  if (data.items.length === 0)
    return (
      <Empty title="Nothing was posted yet." line={`weir credits top-up ${name} 25 --reference invoice-118`}>
        Payments, gifts, corrections and the cost of its calls stand here.
      </Empty>
    );
  return <TransactionsTable rows={data.items} />;
}
