import { keepPreviousData, useInfiniteQuery, useQueries, useQuery } from '@tanstack/react-query';
import { Link, useNavigate } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { ask, type Reply } from '../../api/client.ts';
import { question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { Failure } from '../../components/failure.tsx';
import { More } from '../../components/more.tsx';
import { NameFilter } from '../../components/name-filter.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { PeopleTabs } from '../../components/people-tabs.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useSession, useSpan, useZone } from '../../components/use-page.ts';
import { columnDigits, nanosOf } from '../../format/money.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { describeLimits } from '../keys/key-words.ts';
import { NewUserDialog } from './new-user-dialog.tsx';

type User = Reply<'users.list'>['items'][number];
/** A user with what the books say. Undefined is unknown. */
type Row = User & { readonly spent: bigint | undefined; readonly account: bigint | undefined };

/** Who pays: the users, their teams, limits and balances. */
export function UsersPage() {
  const session = useSession();
  const navigate = useNavigate();
  const [search] = useAddress();
  const [isMaking, setIsMaking] = useState(false);
  const [q, team] = [one(search, 'q'), one(search, 'team')];
  const query = { ...(q !== undefined && { q }), ...(team !== undefined && { team }), limit: pageRows };
  const pages = useInfiniteQuery({
    queryKey: ['users.list', query],
    queryFn: ({ pageParam, signal }) => ask('users.list', { query: pageParam === '' ? query : { ...query, cursor: pageParam }, signal }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'users.list'>) => cursor ?? undefined,
    placeholderData: keepPreviousData,
  });
  const users = useMemo(() => pages.data?.pages.flatMap(({ items }) => items), [pages.data]);
  // Of more users than a page has, the largest spending is not known before all pages are: they stay as they come.
  const isWhole = pages.data?.pages.length === 1 && !pages.hasNextPage;
  const rows = useRows(users, isWhole);
  const mayMake = may(session, 'limits:write');
  useKeys({ n: () => mayMake && setIsMaking(true) });
  return (
    <>
      <PageHead title="Users">
        {mayMake && (
          <Button kind="main" icon="plus" shortcut="n" onClick={() => setIsMaking(true)}>
            New user
          </Button>
        )}
      </PageHead>
      <PeopleTabs />
      <NameFilter label="Name of the user" />
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {rows === undefined && !pages.isError && <Skeleton rows={10} />}
      {rows?.length === 0 &&
        (q === undefined && team === undefined ? (
          <Empty title="There is no user yet." line="weir users create ann">
            A user owns keys and pays for their calls. The first key of a name makes its user too.
          </Empty>
        ) : (
          <Empty title="No user fits.">Search for a shorter part of the name.</Empty>
        ))}
      {rows !== undefined && rows.length > 0 && (
        <UsersTable rows={rows} isWhole={isWhole} onOpen={({ name }) => void navigate({ to: paths.user(name) })} />
      )}
      {rows !== undefined && <More pages={pages} />}
      <NewUserDialog open={isMaking} onClose={() => setIsMaking(false)} />
    </>
  );
}

/** As many users as one question may name. */
const namesMax = 50;
const pageRows = 200;

/** What the users spent in 30 days, by their names. A user whose answer has not come is not in it. */
function useSpending(users: readonly User[] | undefined): ReadonlyMap<string, bigint> {
  const zone = useZone();
  const { from, to } = useSpan('30d');
  const asked = { from, to, time_zone: zone, granularity: 'none', group_by: ['user'], limit: namesMax, rank_by: 'amount' } as const;
  const parts = Array.from({ length: Math.ceil((users?.length ?? 0) / namesMax) }, (_, part) =>
    (users ?? []).slice(part * namesMax, (part + 1) * namesMax).map(({ name }) => name),
  );
  const answers = useQueries({
    queries: parts.map((user) => question('usage.query', { body: { ...asked, filters: { user } } })),
  });
  const spent = new Map<string, bigint>();
  for (const [part, { data }] of answers.entries()) {
    if (data === undefined) continue;
    for (const name of parts[part] ?? []) spent.set(name, 0n);
    for (const { names, total } of data.series) spent.set(names[0] ?? '', nanosOf(total.amount));
  }
  return spent;
}

/** The users with their spending of 30 days and their balances. @param isSorted the largest spending first */
function useRows(users: readonly User[] | undefined, isSorted: boolean): readonly Row[] | undefined {
  const spent = useSpending(users);
  const balances = useQuery(question('credits.balances', { query: {} }));
  if (users === undefined) return undefined;
  const accounts = new Map(balances.data?.items.flatMap(({ user, balance }) => (user === null ? [] : [[user, nanosOf(balance)] as const])));
  const rows = users.map((user) => ({
    ...user,
    spent: spent.get(user.name),
    account: accounts.get(user.name) ?? (balances.data === undefined ? undefined : 0n),
  }));
  if (!isSorted) return rows;
  const order = ({ spent: amount = 0n }: Row): bigint => amount;
  return rows.toSorted((first, second) =>
    order(first) === order(second) ? first.name.localeCompare(second.name) : order(first) < order(second) ? 1 : -1,
  );
}

type TableProps = { readonly rows: readonly Row[]; readonly isWhole: boolean; readonly onOpen: (row: Row) => void };

function UsersTable({ rows, isWhole, onOpen }: TableProps) {
  const [spentDigits, accountDigits] = [
    columnDigits(rows.flatMap(({ spent }) => (spent === undefined ? [] : [spent]))),
    columnDigits(rows.flatMap(({ account }) => (account === undefined ? [] : [account]))),
  ];
  const columns: readonly Column<Row>[] = [
    { id: 'name', title: 'User', grows: true, render: ({ name }) => <Link to={paths.user(name)}>{name}</Link> },
    {
      id: 'team',
      title: 'Team',
      grows: true,
      priority: 2,
      render: ({ team }) => (team === null ? '—' : <Link to={paths.team(team)}>{team}</Link>),
    },
    {
      id: 'limits',
      title: 'Limits',
      grows: true,
      priority: 3,
      render: ({ limits }) => <span title={describeLimits(limits)}>{describeLimits(limits)}</span>,
    },
    { id: 'prepaid', title: 'Payment', priority: 3, render: ({ prepaid }) => (prepaid ? 'prepaid' : 'postpaid') },
    {
      id: 'spent',
      title: 'Spend, 30 days',
      figures: true,
      priority: 2,
      render: ({ spent }) => (spent === undefined ? '—' : <Amount money={spent} digits={spentDigits} />),
    },
    {
      id: 'account',
      title: 'Balance',
      figures: true,
      render: ({ account, prepaid }) => {
        if (account === undefined) return '—';
        const amount = <Amount money={account} digits={accountDigits} />;
        return prepaid && account <= 0n ? (
          <>
            <State sign="✗" word="used up" tone="bad" /> {amount}
          </>
        ) : (
          amount
        );
      },
    },
  ];
  return (
    <DataTable
      caption={isWhole ? 'Users, the largest spending first' : 'Users, the oldest first'}
      columns={columns}
      rows={rows}
      keyOf={({ name }) => name}
      onOpen={onOpen}
    />
  );
}
