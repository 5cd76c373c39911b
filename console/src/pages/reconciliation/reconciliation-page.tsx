import { Link, useNavigate } from '@tanstack/react-router';
import { useRef, useState } from 'react';

import { curlOf } from '../../api/equivalents.ts';
import { useWidth } from '../../charts/use-width.ts';
import { Amount } from '../../components/amount.tsx';
import { Equivalent } from '../../components/equivalent.tsx';
import { Failure } from '../../components/failure.tsx';
import { PageHead } from '../../components/page-head.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress, useMinute, useZone } from '../../components/use-page.ts';
import { usePages } from '../../components/use-pages.ts';
import { showCount } from '../../format/numbers.ts';
import { showDay, showMinute } from '../../format/times.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { InlineSelect } from '../../ui/field.tsx';
import { Empty, Skeleton } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import { useKeys } from '../../ui/use-keys.ts';
import { dayStates, stateOfComparison, vendors } from './comparison-words.ts';
import { CompareDialog } from './compare-dialog.tsx';
import { type Comparison, nextMonth, showDays } from './month-days.ts';
import { useMonth, type VendorMonth } from './use-month.ts';
import styles from './reconciliation-page.module.css';

/** Does the vendor's bill agree with ours? */
export function ReconciliationPage() {
  const [search, change] = useAddress();
  const [dropped, setDropped] = useState<File>();
  const isAdding = one(search, 'new') !== undefined;
  useKeys({ n: () => change({ new: '1' }) });
  return (
    <>
      <PageHead title="Reconciliation">
        <Button icon="print" onClick={() => window.print()}>
          Print
        </Button>
        <Button kind="main" icon="plus" shortcut="n" onClick={() => change({ new: '1' })}>
          Compare an export
        </Button>
      </PageHead>
      <div
        className={styles['drop']}
        role="group"
        aria-label="Place for an export"
        onDragOver={(event) => event.preventDefault()}
        onDrop={(event) => {
          event.preventDefault();
          setDropped(event.dataTransfer.files[0]);
          change({ new: '1' });
        }}
      >
        <p className={styles['muted']}>Drop a vendor&apos;s export of usage or costs here. It is compared with the ledger, day by day.</p>
      </div>
      <Month />
      <Comparisons />
      <CompareDialog
        open={isAdding}
        dropped={dropped}
        onClose={() => {
          setDropped(undefined);
          change({ new: undefined }, true);
        }}
      />
    </>
  );
}

function Month() {
  const [search, change] = useAddress();
  const zone = useZone();
  const present = showDay(useMinute(), zone).slice(0, 7);
  const asked = one(search, 'month') ?? present;
  const month = /^\d{4}-(?:0[1-9]|1[0-2])$/.test(asked) ? asked : present;
  const { months, error } = useMonth(month);
  const go = (step: number): void => change({ month: nextMonth(month, step) });
  useKeys({ '[': () => go(-1), ']': () => go(1), t: () => change({ month: undefined }) });
  return (
    <Panel
      title={`Days of ${month}`}
      tools={
        <div className={styles['month']}>
          <Button kind="quiet" icon="left" label="The month before" shortcut="[" onClick={() => go(-1)} />
          <Button kind="quiet" icon="right" label="The month after" shortcut="]" onClick={() => go(1)} />
        </div>
      }
    >
      {error !== null && <Failure error={error} />}
      {months === undefined && error === null && <Skeleton rows={4} />}
      {months?.length === 0 && <Empty title="No vendor is configured, and none was compared." />}
      {months?.map((each) => (
        <VendorDays key={each.vendor} of={each} />
      ))}
      <p className={styles['legend']}>
        {(['agrees', 'accepted', 'differs', 'missing'] as const).map((state) => (
          <span key={state}>
            {dayStates[state].sign} {dayStates[state].word}
          </span>
        ))}
        <span>Days begin as the vendor counts them.</span>
      </p>
    </Panel>
  );
}

/** The days of a row, and on a phone, where a finger must hit one. */
const [perRowWide, perRowNarrow, narrowPx] = [16, 8, 560];

function VendorDays({ of: { vendor, days } }: { readonly of: VendorMonth }) {
  const table = useRef<HTMLTableElement>(null);
  const perRow = useWidth(table) < narrowPx ? perRowNarrow : perRowWide;
  const rows = Array.from({ length: Math.ceil(days.length / perRow) }, (_, index) => days.slice(index * perRow, (index + 1) * perRow));
  return (
    <table ref={table} className={styles['days']}>
      <caption>{vendor}</caption>
      <tbody>
        {rows.map((row) => (
          <tr key={row[0]?.day}>
            {row.map(({ day, state, comparison }) => {
              const { sign, word } = dayStates[state];
              const words = (
                <>
                  <span>{Number(day.slice(-2))}</span>
                  <span aria-hidden="true">{sign}</span>
                  <span className="visually-hidden">{word}</span>
                </>
              );
              return (
                <td key={day}>
                  {comparison === undefined ? (
                    <span className={styles['day']} data-state={state} title={`${day}: ${word}`}>
                      {words}
                    </span>
                  ) : (
                    <Link
                      to={paths.reconciliation(comparison.id)}
                      search={{ day }}
                      className={styles['day']}
                      data-state={state}
                      title={`${day}: ${word}`}
                    >
                      {words}
                    </Link>
                  )}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Comparisons() {
  const navigate = useNavigate();
  const zone = useZone();
  const [search, change] = useAddress();
  const vendor = vendors.find((name) => name === one(search, 'vendor'));
  const query = vendor === undefined ? {} : { vendor };
  const pages = usePages('reconciliations.list', { query });
  const rows = pages.data?.pages.flatMap(({ items }) => items);
  return (
    <Panel
      title="Comparisons"
      tools={
        <InlineSelect
          label="Vendor"
          value={vendor ?? ''}
          options={[{ value: '', text: 'all vendors' }, ...vendors.map((name) => ({ value: name as string, text: name as string }))]}
          onChange={(name) => change({ vendor: name === '' ? undefined : name })}
        />
      }
    >
      {pages.isError && <Failure error={pages.error} onRetry={() => void pages.refetch()} />}
      {rows === undefined && !pages.isError && <Skeleton rows={6} />}
      {rows?.length === 0 && (
        <Empty title="Nothing was compared yet." line="weir reconcile usage.json --vendor openai">
          Export the usage of your account at the vendor, and drop the file above.
        </Empty>
      )}
      {rows !== undefined && rows.length > 0 && (
        <DataTable
          caption="Comparisons, newest first"
          columns={columnsOf(zone)}
          rows={rows}
          keyOf={({ id }) => id}
          onOpen={({ id }) => void navigate({ to: paths.reconciliation(id) })}
        />
      )}
      {pages.hasNextPage && <Button onClick={() => void pages.fetchNextPage()}>More</Button>}
      <Equivalent command="weir reconcile usage.json --vendor openai" curl={curlOf(location.origin, 'reconciliations.list', { query })} />
    </Panel>
  );
}

const columnsOf = (zone: string): readonly Column<Comparison>[] => [
  { id: 'days', title: 'Days', render: (row) => <Link to={paths.reconciliation(row.id)}>{showDays(row)}</Link> },
  { id: 'vendor', title: 'Vendor', render: ({ vendor, upstream }) => (upstream === null ? vendor : `${vendor}, ${upstream}`) },
  { id: 'kind', title: 'Of', priority: 3, render: ({ kind }) => kind },
  { id: 'state', title: 'State', render: (row) => <State {...stateOfComparison(row)} /> },
  {
    id: 'differing',
    title: 'Differing',
    figures: true,
    priority: 2,
    render: ({ differing, compared }) =>
      differing === null || compared === null ? '—' : `${showCount(differing)} of ${showCount(compared)}`,
  },
  {
    id: 'ours',
    title: 'Ours',
    figures: true,
    priority: 3,
    render: ({ ours }) => (ours === null ? '—' : <Amount money={ours} digits={2} />),
  },
  {
    id: 'theirs',
    title: 'Theirs',
    figures: true,
    priority: 3,
    render: ({ theirs }) => (theirs === null ? '—' : <Amount money={theirs} digits={2} />),
  },
  { id: 'note', title: 'Note', grows: true, priority: 3, render: ({ note }) => <span title={note ?? ''}>{note ?? '—'}</span> },
  { id: 'actor', title: 'By', priority: 3, render: ({ actor }) => actor },
  {
    id: 'at',
    title: 'Begun',
    figures: true,
    priority: 2,
    render: ({ created_at: at }) => <time dateTime={at}>{showMinute(at, zone)}</time>,
  },
];
