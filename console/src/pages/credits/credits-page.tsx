import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { isLost, question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Failure } from '../../components/failure.tsx';
import styles from '../../components/limits/limits.module.css';
import { MoneyStanding } from '../../components/limits/standing.tsx';
import { levelNames } from '../../components/limits/standing-lines.ts';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { PageTabs, useTab } from '../../components/page-tabs.tsx';
import { useAddress, useSession } from '../../components/use-page.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { BalancesTable } from './balances-table.tsx';
import { BooksPanel } from './books-panel.tsx';
import { LeasesTable } from './leases-table.tsx';
import { PostingDialog } from './posting-dialog.tsx';
import { Statement } from './statement.tsx';

/** What is left, and is it right? */
export function CreditsPage() {
  const session = useSession();
  const [search, change] = useAddress();
  const isPosting = one(search, 'post') === '1' && may(session, 'credits:write');
  const setIsPosting = (posts: boolean): void => change({ post: posts ? '1' : undefined });
  const tabs = [
    { name: 'standing', text: 'What is left' },
    { name: 'balances', text: 'Balances' },
    { name: 'statement', text: 'Statement' },
    ...(session.users === null ? [{ name: 'leases', text: 'Leases' } as const] : []),
  ] as const;
  const tab = useTab(tabs);
  return (
    <>
      <PageHead title="Limits & credits">
        {may(session, 'credits:write') && (
          <Button kind="main" icon="plus" onClick={() => setIsPosting(true)}>
            Book a payment
          </Button>
        )}
      </PageHead>
      {session.users === null && <BooksPanel />}
      <PageTabs label="Limits and credits" tabs={tabs} open={tab} />
      {tab === 'standing' && <AllStandings />}
      {tab === 'balances' && <BalancesTable />}
      {tab === 'statement' && <Statement />}
      {tab === 'leases' && <LeasesTable />}
      {isPosting && <PostingDialog onClose={() => setIsPosting(false)} />}
    </>
  );
}

const shownMax = 200;

/** Every spend limit and balance, nearest to its end first. */
function AllStandings() {
  const { users } = useSession();
  const { data, error, refetch } = useQuery({ ...question('standing.list', { query: { limit: shownMax } }), refetchInterval: 30_000 });
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={10} />;
  if (data.items.length === 0 && users !== null)
    return <Empty title="No spend limit holds for you, and you pay afterwards.">Calls are not refused for what they cost.</Empty>;
  if (data.items.length === 0)
    return (
      <Empty title="Nobody has a spend limit or pays before." line="weir users update ann --spend-per-month 100 --prepaid">
        A limit refuses the call that could exceed it. A prepaid user needs a balance for each call.
      </Empty>
    );
  return (
    <>
      <ul className={styles['standing']} aria-label="All limits, nearest to their end first">
        {data.items.map((line) => (
          <MoneyStanding
            key={`${line.level} ${line.user} ${line.team} ${line.key?.id} ${line.of}`}
            line={line}
            subject={<Owner line={line} />}
          />
        ))}
      </ul>
      {data.total > data.items.length && (
        <p>
          These are the {data.items.length} nearest to their end of {data.total}. The page of a user has all of its own.
        </p>
      )}
      <p className={styles['hint']}>Limits of rates, which gateways count, stand on the page of each user and key.</p>
    </>
  );
}

type Line = {
  readonly level: keyof typeof levelNames;
  readonly user: string | null;
  readonly team: string | null;
  readonly key: { readonly id: string; readonly name: string } | null;
};

/** Whose limit it is, as a link. */
function Owner({ line: { level, user, team, key } }: { readonly line: Line }) {
  if (key !== null) return <Link to={paths.key(key.id)}>{`${user ?? ''}/${key.name}`}</Link>;
  if (user !== null) return <Link to={paths.user(user)}>{user}</Link>;
  // A user may have the same name.
  if (team !== null)
    return (
      <>
        team <Link to={paths.team(team)}>{team}</Link>
      </>
    );
  return levelNames[level];
}
