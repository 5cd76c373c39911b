import { useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { lazy, type ReactNode, Suspense } from 'react';

import type { Reply } from '../../api/client.ts';
import { queryClient, question } from '../../api/query-client.ts';
import { may } from '../../api/sign-in.ts';
import { forecastMonth } from '../../components/forecast.ts';
import { areFirstStepsShown } from '../../components/appearance.ts';
import { Amount } from '../../components/amount.tsx';
import { Sparkline } from '../../charts/sparkline.tsx';
import { targetStates as upstreamStates } from '../upstreams/target-words.ts';
import { BooksState } from '../../components/books-state.tsx';
import { useEvents } from '../../components/live.ts';
import { PageHead } from '../../components/page-head.tsx';
import { useMinute, useSession, useZone } from '../../components/use-page.ts';
import { isLongMoney, nanosOf, shareOf, showChange, showMoney } from '../../format/money.ts';
import { countOf, showCount, showDuration, showShare } from '../../format/numbers.ts';
import { showAgo, showMinute } from '../../format/times.ts';
import { paths, type Place, placeOf } from '../../paths.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Facts, Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { AttentionList } from './attention-list.tsx';
import { DayChart } from './day-chart.tsx';
import styles from './overview-page.module.css';

// Only a person of finance sees it, so it is not in the first load.
const FinanceOverview = lazy(() =>
  import('../finance/finance-overview.tsx').then(({ FinanceOverview: component }) => ({ default: component })),
);
// Operators do not load what owners see.
const OwnerPanels = lazy(() => import('./owner-overview.tsx').then((page) => ({ default: page.OwnerPanels })));

// Only of new installations, and only for their operators.
const FirstSteps = lazy(() => import('./first-steps.tsx').then(({ FirstSteps: component }) => ({ default: component })));

type Overview = Reply<'overview.get'>;

const overview = { ...question('overview.get', {}), refetchInterval: 15_000 } as const;

/** Is everything well, and what does it cost? */
export function OverviewPage() {
  const { person } = useSession();
  if (person?.role === 'finance')
    return (
      <Suspense fallback={<Skeleton rows={10} />}>
        <FinanceOverview />
      </Suspense>
    );
  return <OperatorOverview />;
}

function OperatorOverview() {
  const { data } = useSuspenseQuery(overview);
  const session = useSession();
  const { users } = session;
  // The stream begins with the present state: an answer that is as young is not asked for again.
  const ask = (): void => void queryClient.refetchQueries({ queryKey: overview.queryKey, stale: true });
  useEvents({ topics: 'attention' }, { attention: ask });
  useShortcuts();
  return (
    <>
      <PageHead title="Overview" />
      <Tiles data={data} />
      {may(session, 'config:write') && (
        <Suspense fallback={areFirstStepsShown() && <div className={styles['firstSteps']} />}>
          <FirstSteps overview={data} />
        </Suspense>
      )}
      <div className={styles['row']}>
        <DayChart day={data.last_day} />
        <Panel title={data.attention.length === 0 ? 'Needs attention' : `Needs attention (${data.attention.length})`}>
          <div id={attentionId} tabIndex={-1}>
            <AttentionList items={data.attention} />
          </div>
        </Panel>
      </div>
      {users === null ? (
        <div className={styles['lower']}>
          <UsersPanel data={data} />
          <UpstreamsPanel data={data} />
          {data.books !== null && <BooksPanel data={data} books={data.books} />}
        </div>
      ) : (
        <Suspense fallback={<Skeleton rows={10} />}>
          <OwnerPanels users={users} />
        </Suspense>
      )}
    </>
  );
}

/** `1` to `6` open the question behind a tile, and `!` goes to what needs attention. */
function useShortcuts(): void {
  const open = (place: number): void => document.querySelectorAll<HTMLAnchorElement>(`.${styles['tile']}`)[place - 1]?.click();
  useKeys({
    ...Object.fromEntries([1, 2, 3, 4, 5, 6].map((place) => [String(place), () => open(place)])),
    '!': () => document.getElementById(attentionId)?.focus(),
  });
}

const attentionId = 'attention';

function Tiles({ data }: { readonly data: Overview }) {
  const mayReadUpstreams = may(useSession(), 'upstreams:read');
  const { today, yesterday, month, last_day: day, under_way: underWay } = data;
  const change = showChange(nanosOf(today.amount), nanosOf(yesterday.amount));
  const forecast = forecastMonth(nanosOf(month.amount), useMinute(), data.time_zone);
  return (
    <ul className={styles['tiles']} aria-label="Figures">
      <Tile
        title="Spend today"
        place={{ to: paths.usage, search: { r: 'today' } }}
        value={<Amount money={today.amount} />}
        isLong={isLongMoney(today.amount)}
        hint="compared with yesterday until this time"
        note={change === undefined ? 'nothing at this time yesterday' : `${change} vs yesterday`}
      />
      <Tile
        title="Spend this month"
        place={{ to: paths.usage, search: { r: 'month' } }}
        value={<Amount money={month.amount} />}
        isLong={isLongMoney(month.amount)}
        note={forecast === undefined || forecast === 0n ? countOf(month.calls, 'call') : `forecast ${showMoney(forecast)}`}
      />
      <Tile
        title="Calls, 24 h"
        place={{ to: paths.calls, search: { r: '24h' } }}
        value={showCount(day.calls)}
        note={`${showCount(today.calls)} today`}
        hours={day.bucket_starts.map((_start, index) => day.series.reduce((sum, { calls }) => sum + (calls[index] ?? 0), 0))}
        show={(calls) => countOf(calls, 'call')}
      />
      {day.failed_share !== null && (
        <Tile
          title="Failed, 24 h"
          place={{ to: paths.calls, search: { r: '24h', end: 'failed' } }}
          value={showShare(day.failed_share)}
          note="of the calls that ended"
          hours={day.hours?.failed_shares}
          show={showShare}
        />
      )}
      {day.first_byte_p95_ms !== null && (
        <Tile
          title="First byte, p95"
          place={{ to: mayReadUpstreams ? paths.upstreams : paths.calls }}
          value={showDuration(day.first_byte_p95_ms)}
          note="last 24 hours"
          hours={day.hours?.first_byte_p95_ms}
          show={showDuration}
        />
      )}
      {underWay !== null && (
        <Tile
          title="Under way"
          place={{ to: paths.calls }}
          value={showCount(underWay)}
          note={underWay === 1 ? 'call in all gateways' : 'calls in all gateways'}
        />
      )}
    </ul>
  );
}

type TileProps = {
  readonly title: string;
  readonly value: ReactNode;
  /** Whether the value needs smaller digits. */
  readonly isLong?: boolean;
  readonly note: string;
  /** What the note means in full. */
  readonly hint?: string;
  readonly place: Place;
  /** The figure of each hour, and its words. */
  readonly hours?: readonly (number | null)[] | undefined;
  readonly show?: (hour: number) => string;
};

function Tile({ title, value, isLong, note, hint, place, hours, show = showCount }: TileProps) {
  const known = hours?.filter((hour) => hour !== null) ?? [];
  return (
    <li>
      <Link {...place} className={styles['tile']}>
        <span className={styles['name']}>{title}</span>
        <span className={styles['value']} data-long={isLong}>
          {value}
          {known.length > 1 && hours !== undefined && (
            <Sparkline label={`in an hour ${show(Math.min(...known))} to ${show(Math.max(...known))}`} values={hours} />
          )}
        </span>
        <span className={styles['note']} title={hint}>
          {note}
        </span>
      </Link>
    </li>
  );
}

function UsersPanel({ data: { users, today } }: { readonly data: Overview }) {
  const whole = nanosOf(today.amount);
  return (
    <Panel title="Users today">
      {users.length === 0 ? (
        <Empty title="Nobody has called today." />
      ) : (
        <DataTable
          caption="Users today"
          rows={users}
          keyOf={({ user }) => user}
          columns={[
            { id: 'user', title: 'User', grows: true, render: ({ user }) => <Link {...placeOf.user(user)}>{user}</Link> },
            { id: 'calls', title: 'Calls', figures: true, priority: 2, render: ({ calls }) => showCount(calls) },
            { id: 'amount', title: 'Spend', figures: true, render: ({ amount }) => <Amount money={amount} /> },
            {
              id: 'share',
              title: 'Share',
              render: ({ user, amount }) => {
                const share = shareOf(nanosOf(amount), whole);
                return (
                  <span className={styles['share']}>
                    <Meter label={`Share of ${user}`} share={share} /> {showShare(share)}
                  </span>
                );
              },
            },
          ]}
        />
      )}
    </Panel>
  );
}

function UpstreamsPanel({ data: { upstreams } }: { readonly data: Overview }) {
  if (upstreams.length === 0) return null;
  return (
    <Panel title="Upstreams, last 24 hours">
      <DataTable
        caption="Upstreams, last 24 hours"
        rows={upstreams}
        keyOf={({ upstream }) => upstream}
        columns={[
          {
            id: 'upstream',
            title: 'Upstream',
            grows: true,
            render: ({ upstream }) => <Link {...placeOf.upstream(upstream)}>{upstream}</Link>,
          },
          { id: 'state', title: 'State', render: ({ state }) => (state === null ? '—' : <State {...upstreamStates[state]} />) },
          { id: 'calls', title: 'Calls', figures: true, priority: 2, render: ({ calls }) => showCount(calls) },
          { id: 'failed', title: 'Failed', figures: true, render: ({ failed_share: share }) => (share === null ? '—' : showShare(share)) },
          {
            id: 'p95',
            title: 'First byte p95',
            figures: true,
            priority: 2,
            render: ({ first_byte_p95_ms: ms }) => (ms === null ? '—' : showDuration(ms)),
          },
        ]}
      />
    </Panel>
  );
}

function BooksPanel({ data, books }: { readonly data: Overview; readonly books: NonNullable<Overview['books']> }) {
  const zone = useZone();
  const nowMs = useMinute();
  const { add_up: addsUp, verified_at: verifiedAt, estimated_share: estimated, held } = books;
  return (
    <Panel title="Books">
      <Facts
        rows={[
          ['Verification', <BooksState key="state" {...{ addsUp, verifiedAt }} />],
          ...(verifiedAt === null
            ? []
            : [
                [
                  'Last added up',
                  <time key="at" dateTime={verifiedAt} title={showMinute(verifiedAt, zone)}>
                    {showAgo(verifiedAt, Math.max(nowMs, Date.parse(verifiedAt)))}
                  </time>,
                ] as const,
              ]),
          ['Not booked yet', countOf(data.pending_calls, 'call')],
          ['Estimated', estimated === null ? '—' : `${showShare(estimated)} of the newest calls`],
          [
            'Held for calls',
            <Link key="held" to={paths.credits} search={{ tab: 'leases' }}>
              <Amount money={held} />
            </Link>,
          ],
          ['Price version', books.price_versions.join(', ') || '—'],
        ]}
      />
    </Panel>
  );
}
