import { Link, useNavigate } from '@tanstack/react-router';

import { Amount } from '../../components/amount.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { useMinute, useSession, useZone } from '../../components/use-page.ts';
import { columnDigits, exactMoney, type Money, nanosOf, nanosOfUsd, shareOf, showUsd } from '../../format/money.ts';
import { showAgo, showDay, showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { State } from '../../ui/state.tsx';
import { describeLimits, type Key, keyStates, unrecordedUse } from './key-words.ts';

const soonMs = 7 * 86_400_000;
const nearlyUsed = 0.8;

type Props = {
  readonly rows: readonly Key[];
  readonly selection?: { readonly keys: ReadonlySet<string>; readonly onChange: (keys: ReadonlySet<string>) => void };
};

/** API keys, one in each row. */
export function KeysTable({ rows, selection }: Props) {
  const navigate = useNavigate();
  return (
    <DataTable
      caption="API keys"
      columns={useColumns(rows)}
      rows={rows}
      keyOf={({ id }) => id}
      onOpen={({ id }) => void navigate({ to: paths.key(id) })}
      {...(selection !== undefined && { selection: { ...selection, nameOf: ({ user, name }: Key) => `${user}/${name}` } })}
    />
  );
}

/** How near an amount is to its limit, from four fifths of it on. */
function Nearness({ spent, limitUsd, of }: { readonly spent: Money; readonly limitUsd: string | null; readonly of: string }) {
  const share = limitUsd === null ? 0 : shareOf(nanosOf(spent), nanosOfUsd(limitUsd));
  if (share < nearlyUsed) return null;
  return (
    <State sign={share >= 1 ? '✗' : '▲'} word={`${share >= 1 ? 'used up' : 'nearly used'} ${of}`} tone={share >= 1 ? 'bad' : 'warning'} />
  );
}

/** What keys have spent this month, against its limit. A limit of a day is named when its end is near. */
function spentColumn(rows: readonly Key[]): Column<Key> {
  const digits = columnDigits(rows.map(({ spent_this_month: month }) => nanosOf(month)));
  return {
    id: 'spent',
    title: 'Spend this month',
    figures: true,
    priority: 2,
    render: ({ spent_this_month: month, spent_today: today, limits }) => (
      <span title={`${exactMoney(nanosOf(month))} this month, ${exactMoney(nanosOf(today))} today (UTC)`}>
        <Nearness spent={today} limitUsd={limits.spend_per_day_usd} of="today" />{' '}
        <Nearness spent={month} limitUsd={limits.spend_per_month_usd} of="" /> <Amount money={month} digits={digits} />
        {limits.spend_per_month_usd !== null && ` of ${showUsd(limits.spend_per_month_usd)}`}
      </span>
    ),
  };
}

function useColumns(rows: readonly Key[]): readonly Column<Key>[] {
  const seesAll = useSession().users === null;
  const zone = useZone();
  const nowMs = useMinute();
  return [
    {
      id: 'key',
      title: 'Key',
      grows: true,
      render: ({ id, user, name }) => (
        <Link to={paths.key(id)}>
          <KeyName user={user} name={name} />
        </Link>
      ),
    },
    {
      id: 'ends',
      title: 'Ends in',
      priority: 2,
      render: ({ ends_in: end, issuer }) => (issuer === null ? <code>…{end}</code> : `tokens of ${issuer}`),
    },
    { id: 'state', title: 'State', render: ({ state }) => <State {...keyStates[state]} /> },
    {
      id: 'team',
      title: 'Team',
      grows: true,
      priority: 3,
      render: ({ team }) => (team !== null && seesAll ? <Link to={paths.team(team)}>{team}</Link> : (team ?? '—')),
    },
    {
      id: 'limits',
      title: 'Limits',
      grows: true,
      priority: 2,
      render: ({ limits }) => <span title={describeLimits(limits)}>{describeLimits(limits)}</span>,
    },
    spentColumn(rows),
    {
      id: 'used',
      title: 'Last used',
      priority: 3,
      render: ({ last_used_at: at, spent_this_month }) =>
        at === null ? (
          unrecordedUse({ spent_this_month })
        ) : (
          <time dateTime={at} title={showMinute(at, zone)}>
            {showAgo(at, Math.max(nowMs, Date.parse(at)))}
          </time>
        ),
    },
    {
      id: 'expires',
      title: 'Expires',
      priority: 3,
      render: ({ is_playground: isPlayground, limits: { expires_at: at } }) => {
        if (at === null) return '—';
        // No warning before such a key expires: the playground makes a new one when it needs it.
        if (isPlayground) return <span title={showMinute(at, zone)}>with its session</span>;
        const isSoon = Date.parse(at) - nowMs < soonMs;
        return isSoon ? <State sign="▲" word={showMinute(at, zone)} tone="warning" /> : showDay(at, zone);
      },
    },
  ];
}
