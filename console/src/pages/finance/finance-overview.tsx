import { useQuery, useSuspenseQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import type { Body, Reply } from '../../api/client.ts';
import { isLost, question } from '../../api/query-client.ts';
import { Amount } from '../../components/amount.tsx';
import { type Books, wordBooks } from '../../components/books-state.tsx';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { readSpan } from '../../components/span.ts';
import { useMinute, useSession } from '../../components/use-page.ts';
import { columnDigits, nanosOf, shareOf } from '../../format/money.ts';
import { countOf, showCount } from '../../format/numbers.ts';
import { showAgo } from '../../format/times.ts';
import { paths, type Place } from '../../paths.ts';
import { DataTable } from '../../ui/data-table.tsx';
import { Meter } from '../../ui/meter.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { AttentionList } from '../overview/attention-list.tsx';
import { ExportMenu } from '../usage/export-menu.tsx';
import { MonthClose } from './month-close.tsx';
import { MonthPapers } from './month-papers.tsx';
import { forecastMonth } from '../../components/forecast.ts';
import { monthBefore } from './months.ts';
import { useOpenDays } from './use-open-days.ts';
import styles from './finance-overview.module.css';

type Overview = Reply<'overview.get'>;

/** What a person of finance sees first: the month, who spends it, and whether it is right. */
export function FinanceOverview() {
  const { data } = useSuspenseQuery(question('overview.get', {}));
  const books = useBooks(data);
  const { time_zone: zone } = useSession();
  const span = readSpan({ r: 'month' }, zone, useMinute(), 'month');
  const month = { from: span.from, to: span.to, time_zone: zone, rank_by: 'amount' } as const;
  // The file of the month: each user and model, by day.
  const workbook: Body<'usage.query'> = { ...month, granularity: 'day', group_by: ['user', 'model'], limit: 50 };
  return (
    <>
      <PageHead title="Overview">
        <ExportMenu question={workbook} />
      </PageHead>
      <Tiles data={data} books={books} />
      <div className={styles['lower']}>
        <Spenders title="Users this month" by="user" month={month} />
        <Spenders title="Teams this month" by="team" month={month} />
        <Panel title="Needs attention">
          <AttentionList items={data.attention} />
        </Panel>
        <MonthClose books={books} />
        <Drafts />
        <MonthPapers />
        <Panel title="The month's papers">
          <p className={styles['links']}>
            <Link to={paths.credits} search={{ tab: 'balances' }}>
              Balances and statements
            </Link>
            <Link to={paths.usage} search={{ r: 'lastMonth', by: 'user', and: 'model', per: 'day' }}>
              Last month by user and model
            </Link>
            <Link to={paths.reconciliation()}>Reconciliation with the vendors</Link>
            <Link to={paths.prices}>Prices in force</Link>
          </p>
        </Panel>
      </div>
    </>
  );
}

/** Whether the books add up and when that was seen; undefined while nobody knows. Also for those who see no gateways. */
function useBooks({ books, attention }: Overview): Books | undefined {
  const { data } = useQuery(question('credits.verifications', { query: { limit: 1 } }));
  const addsUp = books?.add_up ?? !attention.some(({ code }) => code === 'books');
  if (data === undefined) return addsUp ? undefined : { addsUp, verifiedAt: null };
  const [last] = data.items;
  return { addsUp: addsUp && last?.adds_up !== false, verifiedAt: last?.ended_at ?? null };
}

/** A sign and a sentence for a tile. */
function tellBooks(books: Books | undefined, nowMs: number): { readonly value: string; readonly note: string } {
  if (books === undefined) return { value: '…', note: '' };
  const { sign, word, tone } = wordBooks(books);
  const { verifiedAt } = books;
  const isGood = tone === 'good' && verifiedAt !== null;
  return { value: sign, note: isGood ? `${word}, ${showAgo(verifiedAt, Math.max(nowMs, Date.parse(verifiedAt)))}` : word };
}

function Tiles({ data, books }: { readonly data: Overview; readonly books: Books | undefined }) {
  const nowMs = useMinute();
  const { time_zone: zone } = useSession();
  const spent = nanosOf(data.month.amount);
  const forecast = forecastMonth(spent, nowMs, zone);
  const open = useOpenDays(monthBefore(nowMs, zone, 0), zone).days?.length;
  const unpriced = data.attention.filter(({ code }) => code === 'price_missing').length;
  return (
    <ul className={styles['tiles']} aria-label="Figures">
      <Tile
        title="Spend this month"
        place={{ to: paths.usage, search: { r: 'month', by: 'user' } }}
        value={<Amount money={data.month.amount} />}
        note={countOf(data.month.calls, 'call')}
      />
      <Tile
        title="Forecast of the month"
        place={{ to: paths.usage, search: { r: 'month', view: 'cumulative' } }}
        value={forecast === undefined ? '—' : <Amount money={forecast} />}
        note="if it goes on as until now"
      />
      <Tile
        title="Days to reconcile"
        place={{ to: paths.reconciliation() }}
        value={open === undefined ? '…' : showCount(open)}
        note="missing or different this month, of all vendors"
      />
      <Tile
        title="Models without a price"
        place={{ to: paths.prices }}
        value={showCount(unpriced)}
        note={unpriced === 0 ? 'every call has one' : 'their calls cost nothing'}
      />
      <Tile title="Books" place={{ to: paths.credits }} {...tellBooks(books, nowMs)} />
    </ul>
  );
}

type TileProps = { readonly title: string; readonly value: ReactNode; readonly note: string; readonly place: Place };

function Tile({ title, value, note, place }: TileProps) {
  return (
    <li>
      <Link {...place} className={styles['tile']}>
        <span className={styles['note']}>{title}</span>
        <span className={styles['value']}>{value}</span>
        <span className={styles['note']}>{note}</span>
      </Link>
    </li>
  );
}

type SpendersProps = {
  readonly title: string;
  readonly by: 'user' | 'team';
  readonly month: Pick<Body<'usage.query'>, 'from' | 'to' | 'time_zone' | 'rank_by'>;
};

function Spenders({ title, by, month }: SpendersProps) {
  const body: Body<'usage.query'> = { ...month, granularity: 'none', group_by: [by], limit: 8 };
  const { data, error } = useQuery({ ...question('usage.query', { body }), placeholderData: (before) => before });
  if (isLost(error, data)) return <Failure error={error} />;
  const whole = data === undefined ? 0n : nanosOf(data.totals.total.amount);
  const digits = columnDigits((data?.series ?? []).map(({ total }) => nanosOf(total.amount)));
  return (
    <Panel title={title}>
      {data === undefined && <Skeleton rows={4} />}
      {data?.series.length === 0 && <Empty title="Nothing was spent this month." />}
      {data !== undefined && data.series.length > 0 && (
        <DataTable
          caption={title}
          rows={data.series}
          keyOf={({ names }) => names.join(' ')}
          columns={[
            {
              id: 'name',
              title: by === 'user' ? 'User' : 'Team',
              grows: true,
              render: ({ names: [name = ''] }) =>
                name === '' ? (
                  '(none)'
                ) : (
                  <Link to={paths.usage} search={{ r: 'month', by: 'model', [by]: name }}>
                    {name}
                  </Link>
                ),
            },
            { id: 'amount', title: 'Spend', figures: true, render: ({ total }) => <Amount money={total.amount} digits={digits} /> },
            {
              id: 'share',
              title: 'Share',
              priority: 2,
              render: ({ names, total }) => <Meter label={`Share of ${names.join(' ')}`} share={shareOf(nanosOf(total.amount), whole)} />,
            },
          ]}
        />
      )}
    </Panel>
  );
}

/** Drafts of prices, which lead to who would pay what. */
function Drafts() {
  const { data, error } = useQuery(question('price_drafts.list', {}));
  if (isLost(error, data)) return <Failure error={error} />;
  return (
    <Panel title="Staged prices">
      {data === undefined && <Skeleton rows={3} />}
      {data?.items.length === 0 && (
        <p>
          <Link to={paths.prices} search={{ tab: 'drafts', new: '1' }}>
            Make a draft
          </Link>{' '}
          to see who would pay what by other prices.
        </p>
      )}
      <ul className={styles['links']}>
        {data?.items.slice(0, 6).map(({ id, name }) => (
          <li key={id}>
            <Link to={paths.priceDraft(id)} search={{ step: '3' }}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </Panel>
  );
}
