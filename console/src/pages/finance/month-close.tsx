import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { question } from '../../api/query-client.ts';
import { type Books, BooksState } from '../../components/books-state.tsx';
import { Failure } from '../../components/failure.tsx';
import { useMinute, useSession } from '../../components/use-page.ts';
import { showCount } from '../../format/numbers.ts';
import { paths, placeOf, type Place } from '../../paths.ts';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import styles from './finance-overview.module.css';
import { monthBefore } from './months.ts';
import { useOpenDays } from './use-open-days.ts';

const listedMax = 5;
const rowsMax = 100;

/** What is left to do before the last month can be closed: days, prices and disputed calls. */
export function MonthClose({ books }: { readonly books: Books | undefined }) {
  const { time_zone: zone } = useSession();
  const month = monthBefore(useMinute(), zone, 1);
  const { name, from, to } = month;
  const { days: open, error: daysError } = useOpenDays(month, zone);
  const unpriced = useQuery(question('calls.unpriced', { query: { from, to, limit: rowsMax } }));
  const disputes = useQuery(question('disputes.list', { query: { settled: false, limit: rowsMax } }));
  const disputed = disputes.data?.items.filter(({ accepted_at: at }) => at < to);
  return (
    <Panel title={`Close of ${name}`}>
      <ul className={styles['close']}>
        <Row
          text="days to reconcile"
          error={daysError}
          count={open?.length}
          place={{ to: paths.reconciliation(), search: { month: name } }}
          detail={open?.slice(0, listedMax).join(', ')}
        />
        <Row
          text="models without a price"
          error={unpriced.error}
          count={unpriced.data?.items.length}
          place={{ to: paths.prices, search: { tab: 'drafts' } }}
          detail={unpriced.data?.items
            .slice(0, listedMax)
            .map(({ model, calls }) => `${model} (${showCount(calls)} calls)`)
            .join(', ')}
        />
        <Row
          text="disputed calls without a decision"
          error={disputes.error}
          count={disputed?.length}
          detail={disputed?.slice(0, listedMax).map(({ id, user }) => (
            <Link key={id} {...placeOf.call(id.split(':')[0] ?? id)}>
              {user}: {id}
            </Link>
          ))}
        />
        <li>{books === undefined ? '…' : <BooksState {...books} />}</li>
      </ul>
    </Panel>
  );
}

type RowProps = {
  readonly text: string;
  readonly count: number | undefined;
  readonly error: unknown;
  readonly place?: Place;
  readonly detail: ReactNode;
};

/** One thing that must be none before the month is closed. A question that failed is not taken for none. */
function Row({ text, count, error, place, detail }: RowProps) {
  if (error !== null && error !== undefined)
    return (
      <li>
        <Failure error={error} />
      </li>
    );
  if (count === undefined) return <li aria-busy="true">…</li>;
  if (count === 0)
    return (
      <li>
        <State sign="✓" word={`no ${text}`} tone="good" />
      </li>
    );
  return (
    <li>
      <State sign="▲" word={`${showCount(count)} ${text}`} tone="warning" /> {place !== undefined && <Link {...place}>Look</Link>}
      <p className={styles['detail']}>{detail}</p>
    </li>
  );
}
