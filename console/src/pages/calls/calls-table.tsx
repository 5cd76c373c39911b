import { keepPreviousData, useInfiniteQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';
import { useMemo, useState } from 'react';

import { ask, type Query, type Reply } from '../../api/client.ts';
import { mayPlay } from '../../api/sign-in.ts';
import { Amount } from '../../components/amount.tsx';
import { useColumnChooser } from '../../components/column-chooser.tsx';
import { CallEnd, type CallItem } from '../../components/call-end.tsx';
import { Failure } from '../../components/failure.tsx';
import { KeyName } from '../../components/key-name.tsx';
import { useEvents } from '../../components/live.ts';
import { More } from '../../components/more.tsx';
import { useKept } from '../../components/use-kept.ts';
import { useAddress, useSession, useZone } from '../../components/use-page.ts';
import { columnDigits, nanosOf } from '../../format/money.ts';
import { showCount, showDuration, showShort } from '../../format/numbers.ts';
import { showRowTime, showTime } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import styles from './calls-page.module.css';

type Props = {
  readonly query: Query<'calls.list'>;
  readonly isLive: boolean;
  readonly open: string | undefined;
  readonly onOpen: (call: CallItem) => void;
};

const pageRows = 100;
/** Who goes on wants many. */
const nextRows = 500;
/** The rows that arrive live; older ones are on the pages. */
const liveMax = 500;

const waitingMs = 2000;

/** Whether a list without filters is empty because it does not have its calls yet. */
const isWaiting = ({ items, next_cursor: cursor, pending_calls: pending }: Reply<'calls.list'>): boolean =>
  items.length === 0 && cursor === null && pending > 0;

/** Calls, newest first. Live calls come on top. */
export function CallsTable({ query: present, isLive, open, onOpen }: Props) {
  const zone = useZone();
  const [query, hold] = useHeld(present);
  const isFiltered = Object.keys(query).some((name) => name !== 'from' && name !== 'to');
  const pages = useInfiniteQuery({
    queryKey: ['calls.list', query],
    queryFn: ({ pageParam, signal }) =>
      ask('calls.list', {
        query: pageParam === '' ? { ...query, limit: pageRows } : { ...query, limit: nextRows, cursor: pageParam },
        signal,
      }),
    initialPageParam: '',
    getNextPageParam: ({ next_cursor: cursor }: Reply<'calls.list'>) => cursor ?? undefined,
    placeholderData: keepPreviousData,
    refetchInterval: ({ state: { data: listed } }) => (!isFiltered && listed?.pages.every(isWaiting) === true ? waitingMs : false),
  });
  const [{ call: _call, ...asked }] = useAddress();
  const data = useKept(JSON.stringify(asked), pages.data, pages.error);
  const live = useLiveCalls(query, isLive);
  const rows = useMemo(() => {
    const listed = data?.pages.flatMap(({ items }) => items) ?? [];
    const known = new Set(live.length === 0 ? [] : listed.map(({ id }) => id));
    return [...live.filter(({ id }) => !known.has(id)), ...listed];
  }, [data, live]);
  if (pages.isError && data === undefined) return <Failure error={pages.error} onRetry={() => void pages.refetch()} />;
  if (data === undefined) return <Skeleton rows={14} />;
  const last = data.pages.at(-1);
  const areMissing = !isFiltered && rows.length === 0 && last !== undefined && isWaiting(last);
  const rest = (
    <p className={styles['more']}>
      <More
        pages={{
          ...pages,
          fetchNextPage: () => {
            hold();
            return pages.fetchNextPage();
          },
        }}
        isSparse={last?.items.length === 0}
        text={rows.length === 0 ? 'Search on' : 'More'}
      />
      {!pages.hasNextPage && rows.length > 0 && 'These are all.'}
      {last !== undefined && <span>searched to {showTime(last.searched_to, zone)}</span>}
      {last !== undefined && last.pending_calls > 0 && (
        <span>{last.pending_calls === 1 ? '1 call is' : `${showCount(last.pending_calls)} calls are`} not booked yet</span>
      )}
    </p>
  );
  if (rows.length === 0)
    return (
      <>
        <NoCalls isSearching={pages.hasNextPage} {...{ areMissing, isFiltered }} />
        {rest}
      </>
    );
  return (
    <>
      <CallRows rows={rows} open={open} onOpen={onOpen} />
      {pages.isError && (
        <Failure error={pages.error} onRetry={() => void (pages.isFetchNextPageError ? pages.fetchNextPage() : pages.refetch())} />
      )}
      {rest}
    </>
  );
}

function NoCalls({
  isSearching,
  areMissing,
  isFiltered,
}: {
  readonly isSearching: boolean;
  /** Whether calls were made that the list does not have yet. */
  readonly areMissing: boolean;
  readonly isFiltered: boolean;
}) {
  const session = useSession();
  if (isSearching) return <Empty title="No call fits.">The search has not reached the beginning of the span yet.</Empty>;
  if (areMissing)
    return <Empty title="No call is in this list yet.">Calls were made that it does not have. They appear within seconds.</Empty>;
  if (isFiltered) return <Empty title="No call fits.">Choose another span of time, or remove a filter.</Empty>;
  return (
    <Empty title="There were no calls in this span.">
      Choose another span of time
      {mayPlay(session) && (
        <>
          , or <Link to={paths.playground}>make a call in the playground</Link>
        </>
      )}
      .
    </Empty>
  );
}

/**
 * The question, which stays as it was when somebody has gone on to its later pages. Otherwise the end of an open span,
 * which moves with the minute, would take their pages away.
 * @returns the question, and what holds it
 */
function useHeld(present: Query<'calls.list'>): readonly [Query<'calls.list'>, () => void] {
  const [search] = useAddress();
  const { call: _call, ...others } = search;
  const of = JSON.stringify(others);
  const [held, setHeld] = useState<{ readonly of: string; readonly query: Query<'calls.list'> }>();
  const query = held?.of === of ? held.query : present;
  return [query, () => setHeld({ of, query })];
}

function CallRows({ rows, open, onOpen }: { readonly rows: readonly CallItem[] } & Pick<Props, 'open' | 'onOpen'>) {
  const zone = useZone();
  const { columns, chooser } = useColumnChooser('calls', columnsOf(rows, zone), usualColumns);
  return (
    <>
      <div className={styles['chooser']}>{chooser}</div>
      <DataTable caption="Calls, newest first" columns={columns} rows={rows} keyOf={({ id }) => id} openKey={open} onOpen={onOpen} />
    </>
  );
}

const usualColumns = ['time', 'key', 'model', 'upstream', 'end', 'first', 'total', 'tokens', 'amount'];

function useLiveCalls(query: Query<'calls.list'>, isLive: boolean): readonly CallItem[] {
  const [calls, setCalls] = useState<{ readonly of: string; readonly items: readonly CallItem[] }>({ of: '', items: [] });
  // A later end of the span would be another stream.
  const { from: _from, to: _to, ...filters } = query;
  const of = JSON.stringify(filters);
  useEvents(isLive ? { ...filters, topics: 'calls' } : undefined, {
    calls: (data) => {
      const { items } = data as { readonly items: readonly CallItem[] };
      setCalls((before) => ({ of, items: [...items, ...(before.of === of ? before.items : [])].slice(0, liveMax) }));
    },
  });
  return calls.of === of ? calls.items : [];
}

function columnsOf(rows: readonly CallItem[], zone: string): readonly Column<CallItem>[] {
  const digits = columnDigits(rows.map(({ amount }) => nanosOf(amount)));
  return [
    { id: 'time', title: 'Time', render: ({ at }) => <time dateTime={at}>{showRowTime(at, zone)}</time> },
    {
      id: 'key',
      title: 'Key',
      grows: true,
      priority: 2,
      render: ({ user, key, key_id: id }) => (
        <Link to={paths.key(id)}>
          <KeyName user={user} name={key} />
        </Link>
      ),
    },
    {
      id: 'model',
      title: 'Model → served',
      grows: true,
      render: ({ model, served_model: served }) => (served === null || served === model ? model : `${model} → ${served}`),
    },
    { id: 'upstream', title: 'Upstream', grows: true, priority: 3, render: ({ upstream }) => upstream ?? '—' },
    { id: 'upstream_model', title: 'Model there', grows: true, priority: 3, render: ({ upstream_model: name }) => name ?? '—' },
    { id: 'interface', title: 'Interface', priority: 3, render: ({ interface: spoken }) => spoken },
    { id: 'team', title: 'Team', grows: true, priority: 3, render: ({ team }) => team ?? '—' },
    {
      id: 'tags',
      title: 'Tags',
      grows: true,
      priority: 3,
      render: ({ tags }) => {
        const text = Object.entries(tags).map(([name, value]) => `${name}=${value}`);
        return text.length === 0 ? '—' : <span title={text.join(', ')}>{text.join(', ')}</span>;
      },
    },
    { id: 'end', title: 'End', render: ({ end }) => <CallEnd end={end} /> },
    { id: 'status', title: 'Status', figures: true, priority: 3, render: ({ status }) => status ?? '—' },
    { id: 'error', title: 'Error', priority: 3, render: ({ error_code: code }) => (code === null ? '—' : <code>{code}</code>) },
    { id: 'notes', title: 'Notes', priority: 3, render: ({ flags }) => flags.join(', ') || '—' },
    { id: 'first', title: 'First', figures: true, priority: 3, render: ({ first_byte_ms: ms }) => (ms === null ? '—' : showDuration(ms)) },
    { id: 'total', title: 'Total', figures: true, priority: 2, render: ({ duration_ms: ms }) => showDuration(ms) },
    {
      id: 'tokens',
      title: 'Tokens in / out',
      figures: true,
      priority: 3,
      render: ({ prompt_tokens: sent, completion_tokens: got }) => `${showShort(sent)} / ${showShort(got)}`,
    },
    {
      id: 'amount',
      title: 'Amount',
      figures: true,
      render: ({ amount, flags }) => <Amount money={amount} digits={digits} estimated={flags.includes('estimated')} />,
    },
  ];
}
