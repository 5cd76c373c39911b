import { useQuery } from '@tanstack/react-query';
import { Link } from '@tanstack/react-router';

import { addressOf, type Reply } from '../../api/client.ts';
import { isLost, question } from '../../api/query-client.ts';
import { Amount } from '../../components/amount.tsx';
import { Failure } from '../../components/failure.tsx';
import { one } from '../../components/search-params.ts';
import { SpanPicker } from '../../components/span-picker.tsx';
import { callsOfDay, kindNames } from '../../components/transactions-table.tsx';
import { useKept } from '../../components/use-kept.ts';
import { useAddress, useSpan, useZone } from '../../components/use-page.ts';
import { exactDigits, nanosOf } from '../../format/money.ts';
import { showCount } from '../../format/numbers.ts';
import { showMinute, showOffset } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty, Notice, Skeleton } from '../../ui/notice.tsx';
import { Facts } from '../../ui/panel.tsx';
import { type AccountOwner, paramsOf, readOwner, statementOf } from './account-owner.ts';
import styles from './credits-page.module.css';
import { OwnerField, useFirstOwner } from './owner-field.tsx';

type Answer = Reply<'credits.statement'>;
type Line = { readonly id: string; readonly date: string; readonly what: React.ReactNode; readonly note: string; readonly nanos: bigint };

/** What happened to an account in a span: opening, payments, usage by day, closing. */
export function Statement() {
  const [search, change] = useAddress();
  const first = useFirstOwner();
  const chosen = one(search, 'account') ?? first.owner ?? '';
  const owner = readOwner(chosen);
  if (!first.isKnown) return <Skeleton rows={8} />;
  if (owner === undefined) return <Empty title="There is no account yet." line="weir users create ann" />;
  return (
    <>
      <div className={styles['choose']}>
        <OwnerField value={chosen} onChange={(account) => change({ account })} />
        <SpanPicker fallback="month" />
        <Files owner={owner} />
      </div>
      <Lines owner={owner} />
    </>
  );
}

function Files({ owner }: { readonly owner: AccountOwner }) {
  const { from, to } = useSpan('month');
  const save = (): void => {
    const id = `${statementOf(owner)}_export` as const;
    location.assign(addressOf(id, { params: paramsOf(owner), query: { from, to } }).path);
  };
  return (
    <>
      <Button icon="download" onClick={save}>
        Workbook
      </Button>
      <Button icon="print" onClick={() => window.print()}>
        Print
      </Button>
    </>
  );
}

function Lines({ owner }: { readonly owner: AccountOwner }) {
  const zone = useZone();
  const { from, to } = useSpan('month');
  const [{ r, from: since, to: until }] = useAddress();
  const statement = useQuery(question(statementOf(owner), { params: paramsOf(owner), query: { from, to } }));
  const { error, refetch } = statement;
  const data = useKept(JSON.stringify([owner, r, since, until]), statement.data, error);
  if (isLost(error, data)) return <Failure error={error} onRetry={() => void refetch()} />;
  if (data === undefined) return <Skeleton rows={8} />;
  const lines = linesOf(data, owner, zone);
  const digits = exactDigits([...lines.map(({ nanos }) => nanos), nanosOf(data.closing)]);
  const columns: readonly Column<Line>[] = [
    { id: 'date', title: 'Date', render: ({ date }) => date },
    { id: 'what', title: 'What', grows: true, render: ({ what }) => what },
    { id: 'note', title: 'Note', grows: true, priority: 2, render: ({ note }) => note },
    { id: 'amount', title: 'Amount (USD)', figures: true, render: ({ nanos }) => <Amount money={nanos} digits={digits} /> },
  ];
  const closing = { id: 'closing', date: showMinute(data.to, zone), what: 'Closing', note: '', nanos: nanosOf(data.closing) };
  return (
    <>
      <h2>Statement of {owner.level === 'organization' ? 'the organization' : <bdi>{owner.name}</bdi>}</h2>
      <p>
        {showMinute(data.from, zone)} to {showMinute(data.to, zone)}, {zone} ({showOffset(data.from, zone)}). Usage is by days of UTC. As of{' '}
        {showMinute(data.as_of, zone)}.
      </p>
      {!data.is_whole && (
        <Notice tone="warning">There are more postings than are listed. The sums and the closing have all of them.</Notice>
      )}
      <Sums statement={data} digits={digits} />
      <DataTable caption="Statement" columns={columns} rows={lines} keyOf={({ id }) => id} totals={closing} />
    </>
  );
}

/** What the lines come to, by kind. */
function Sums({ statement: { opening, closing, sums }, digits }: { readonly statement: Answer; readonly digits: number }) {
  return (
    <Facts
      rows={[
        ['Opening', <Amount key="opening" money={opening} digits={digits} />],
        ...sums.map(({ kind, count, amount }) => {
          const word = `${kindNames[kind][0]?.toUpperCase()}${kindNames[kind].slice(1)}`;
          // Usage is listed by days, not by its postings.
          const name = kind === 'usage' ? word : `${word}, ${showCount(count)} ${count === 1 ? 'posting' : 'postings'}`;
          return [name, <Amount key={kind} money={amount} digits={digits} />] as const;
        }),
        ['Closing', <Amount key="closing" money={closing} digits={digits} />],
      ]}
    />
  );
}

/** The lines between, oldest first, after the opening. Each leads to what is behind it. */
function linesOf(data: Answer, owner: AccountOwner, zone: string): readonly Line[] {
  const filter = owner.level === 'organization' ? {} : { [owner.level]: owner.name };
  const posted = data.postings.map((posting) => ({
    at: posting.posted_at,
    line: {
      id: posting.id,
      date: showMinute(posting.posted_at, zone),
      what:
        posting.call_id === null ? (
          <span title={posting.id}>
            {kindNames[posting.kind]} <code>{posting.id.split('/').at(-1)}</code>
          </span>
        ) : (
          <>
            {kindNames[posting.kind]} of <Link to={paths.call(posting.call_id)}>{posting.call_id}</Link>
          </>
        ),
      note: posting.note ?? '',
      nanos: nanosOf(posting.amount),
    },
  }));
  const used = data.usage.map(({ day, amount }) => ({
    // A day of usage stands at its end, after what was posted in it.
    at: `${day}T23:59:59.999Z`,
    line: {
      id: `usage ${day}`,
      date: day,
      what: (
        <Link to={paths.calls} search={{ ...callsOfDay(day), ...filter }}>
          usage
        </Link>
      ),
      note: '',
      nanos: nanosOf(amount),
    },
  }));
  const opening = { id: 'opening', date: showMinute(data.from, zone), what: 'Opening', note: '', nanos: nanosOf(data.opening) };
  const between = [...posted, ...used].toSorted((one, other) => (one.at < other.at ? -1 : 1));
  return [opening, ...between.map(({ line }) => line)];
}
