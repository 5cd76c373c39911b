import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import type { Reply } from '../../api/client.ts';
import { isLost, question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { Failure } from '../../components/failure.tsx';
import { useSession } from '../../components/use-page.ts';
import { columnDigits, nanosOf } from '../../format/money.ts';
import { paths, placeOf } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { State } from '../../ui/state.tsx';
import { type AccountOwner, ownerText } from './account-owner.ts';

type Balance = Reply<'credits.balances'>['items'][number];

const ownerOf = ({ level, user, team }: Balance): AccountOwner =>
  level === 'organization' ? { level } : { level, name: (level === 'user' ? user : team) ?? '' };

function stateOf(balance: bigint) {
  if (balance < 0n) return { sign: '▲', word: 'owes', tone: 'warning' } as const;
  return balance === 0n
    ? ({ sign: '○', word: 'even', tone: 'muted' } as const)
    : ({ sign: '●', word: 'has credit', tone: 'good' } as const);
}

/** The balance of each account, the lowest first, with the way to its statement. */
export function BalancesTable() {
  const session = useSession();
  const { data, error, refetch } = useQuery(question('credits.balances', { query: {} }));
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={8} />;
  if (data.items.length === 0)
    return (
      <Empty title="No account has a posting yet." line="weir credits top-up ann --reference invoice-1 -- 25">
        The first payment, or the first call of a user, opens the account.
      </Empty>
    );
  const rows = data.items.toSorted((one, other) => Number(nanosOf(one.balance) > nanosOf(other.balance)) * 2 - 1);
  const digitsOf = (name: 'balance' | 'leased' | 'videos'): number => columnDigits(rows.map((row) => nanosOf(row[name])));
  const statement = (row: Balance) => ({ to: paths.credits, search: { tab: 'statement', account: ownerText(ownerOf(row)) } });
  const columns: readonly Column<Balance>[] = [
    { id: 'owner', title: 'Account', render: (row) => <Owner row={row} /> },
    {
      id: 'state',
      title: 'State',
      priority: 2,
      render: ({ balance }) => <State {...stateOf(nanosOf(balance))} />,
    },
    {
      id: 'balance',
      title: 'Balance (USD)',
      figures: true,
      render: ({ balance }) => <Amount money={balance} digits={digitsOf('balance')} />,
    },
    {
      id: 'leased',
      title: 'With gateways',
      figures: true,
      priority: 3,
      render: ({ leased }) => <Amount money={leased} digits={digitsOf('leased')} />,
    },
    {
      id: 'videos',
      title: 'Held for videos',
      figures: true,
      priority: 3,
      render: ({ videos: held }) => <Amount money={held} digits={digitsOf('videos')} />,
    },
    { id: 'statement', title: 'Statement', render: (row) => <Link {...statement(row)}>Statement</Link> },
    ...(may(session, 'credits:write')
      ? [
          {
            id: 'pay',
            title: 'Payment',
            priority: 2 as const,
            render: (row: Balance) => (
              <Link to={paths.credits} search={{ tab: 'balances', post: '1', account: ownerText(ownerOf(row)) }}>
                Book a payment
              </Link>
            ),
          },
        ]
      : []),
  ];
  return <DataTable caption="Balances, the lowest first" columns={columns} rows={rows} keyOf={(row) => ownerText(ownerOf(row))} />;
}

function Owner({ row: { level, user, team } }: { readonly row: Balance }) {
  if (user !== null) return <Link {...placeOf.user(user)}>{user}</Link>;
  if (team !== null) return <Link {...placeOf.team(team)}>team {team}</Link>;
  return level === 'organization' ? 'the organization' : '—';
}
