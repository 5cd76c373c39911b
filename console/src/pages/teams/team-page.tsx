import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { isLost, question, versionedQuestion } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import styles from '../../components/columns.module.css';
import { contentWords } from '../../components/content-dialog.tsx';
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
import { type Team, TeamActions } from './team-actions.tsx';

/** One team: what its users share, who they are, its money, and who changed it. */
export function TeamPage() {
  const name = usePathPart('name');
  const session = useSession();
  const {
    data: { body: team, version },
  } = useSuspenseQuery(versionedQuestion('teams.get', { params: { name } }));
  const tabs = [
    { name: 'limits', text: 'Limits & use' },
    { name: 'credits', text: 'Credits' },
    ...(may(session, 'audit:read') ? [{ name: 'history', text: 'History' } as const] : []),
  ] as const;
  const tab = useTab(tabs);
  return (
    <>
      <PageHead title={team.name}>
        <TeamActions team={team} version={version} />
      </PageHead>
      <PageTabs label="Parts of the team" tabs={tabs} open={tab} />
      {tab === 'limits' && <LimitsAndUse team={team} />}
      {tab === 'credits' && <Credits name={team.name} />}
      {tab === 'history' && <History subject={`team:${team.name}`} />}
    </>
  );
}

function LimitsAndUse({ team }: { readonly team: Team }) {
  const zone = useZone();
  // The levels above a user are the same for all users of the team.
  const [member] = team.users;
  return (
    <>
      <div className={styles['columns']}>
        <Panel title="What is left for the team, nearest to its end first">
          {member === undefined ? (
            <p>Nobody is in the team, so nothing uses its limits.</p>
          ) : (
            <Standing user={member} levels={['team', 'organization']} />
          )}
        </Panel>
        <Panel title="Team">
          <Facts
            rows={[
              ['Payment', team.prepaid ? 'prepaid: its balance must cover calls of users who are not prepaid' : 'postpaid'],
              ['Balance', team.balance === null ? '—' : <Amount key="balance" money={team.balance} />],
              ['Limits', describeLimits(team.limits)],
              ['Recorded content', contentWords(team.content, 'nothing')],
              ['Made', showDay(team.created_at, zone)],
              [
                'Calls',
                <Link key="calls" to={paths.calls} search={{ team: team.name, r: '30d' }}>
                  calls of its users
                </Link>,
              ],
            ]}
          />
        </Panel>
      </div>
      <UsagePanel filter={{ team: team.name }} by="user" />
      <Panel title={`Users (${team.users.length})`}>
        {team.users.length === 0 ? (
          <p>None yet: open a user and choose this team.</p>
        ) : (
          <ul className={styles['links']}>
            {team.users.map((user) => (
              <li key={user}>
                <Link to={paths.user(user)}>{user}</Link>
              </li>
            ))}
          </ul>
        )}
      </Panel>
    </>
  );
}

const rowsMax = 100;

function Credits({ name }: { readonly name: string }) {
  const { data, error, refetch } = useQuery(question('credits.team_transactions', { params: { name }, query: { limit: rowsMax } }));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={8} />;
  if (data.items.length === 0)
    return (
      <Empty title="Nothing was posted to its account." line={`weir teams top-up ${name} 200 --reference invoice-119`}>
        Usage is posted here when the team is prepaid. Payments, gifts and corrections always are.
      </Empty>
    );
  return <TransactionsTable rows={data.items} />;
}
