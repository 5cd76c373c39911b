import { Link } from '@tanstack/react-router';
import type { ReactNode } from 'react';

import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { saveText, writeCsv } from '../../format/csv.ts';
import { showCount, showShare } from '../../format/numbers.ts';
import { paths } from '../../paths.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import type { CellName, Detail } from './month-days.ts';

type Cell = NonNullable<NonNullable<Detail['result']>['cells']>[number];
type Row = Cell['usage'][number] & CellName & { readonly causes: readonly string[]; readonly isFirst: boolean };

/** What the vendor counts differently: one row for each class of a model and day. */
function rowsOf(cells: readonly Cell[], withEqual: boolean): readonly Row[] {
  return cells.flatMap(({ day, model, usage, likely_causes: causes }) =>
    usage
      .filter(({ difference }) => withEqual || difference !== 0)
      .map((count, index) => ({ ...count, day, model, causes, isFirst: index === 0 })),
  );
}

type Props = { readonly found: Detail; readonly open: CellName | undefined; readonly onOpen: (cell: CellName) => void };

/** Day × model × class. Only differences, unless all are asked for. */
export function UsageCells({ found, open, onOpen }: Props) {
  const [search, change] = useAddress();
  const isAll = one(search, 'all') === '1';
  const day = one(search, 'day');
  const cells = found.result?.cells ?? [];
  const rows = rowsOf(cells, isAll).filter((row) => day === undefined || row.day === day);
  return (
    <Panel
      title={day === undefined ? 'By day, model and class' : `On ${day}, by model and class`}
      tools={
        <>
          {day !== undefined && <Button onClick={() => change({ day: undefined })}>All days</Button>}
          <Button pressed={isAll} onClick={() => change({ all: isAll ? undefined : '1' })}>
            Equal ones too
          </Button>
        </>
      }
    >
      {rows.length === 0 ? (
        <Empty title="Nothing differs.">
          {cells.length === 0 ? 'The export and the ledger have no usage in this time.' : 'The vendor counts what the ledger has.'}
        </Empty>
      ) : (
        <DataTable
          caption="Counts of the ledger and of the vendor"
          columns={columnsOf((row) => (
            <Link
              to={paths.reconciliation(found.id)}
              search={{ ...search, cell: `${row.day} ${row.model}` }}
              title={`The calls of ${row.model} on ${row.day}`}
            >
              {row.model}
            </Link>
          ))}
          rows={rows}
          keyOf={keyOf}
          openKey={open === undefined ? undefined : rows.map(keyOf).find((key) => key.startsWith(`${open.day} ${open.model} `))}
          onOpen={onOpen}
        />
      )}
    </Panel>
  );
}

const keyOf = (row: Row): string => `${row.day} ${row.model} ${row.class}`;

const signed = (count: number): string => (count > 0 ? `+${showCount(count)}` : showCount(count));

/** @param link leads to the calls behind a row */
const columnsOf = (link: (row: Row) => ReactNode): readonly Column<Row>[] => [
  { id: 'day', title: 'Day', render: ({ day }) => day },
  { id: 'model', title: 'Model', grows: true, render: link },
  { id: 'class', title: 'Class', render: (row) => row.class.replaceAll('_', ' ') },
  { id: 'ours', title: 'Ours', figures: true, priority: 2, render: ({ ours }) => showCount(ours) },
  { id: 'theirs', title: 'Theirs', figures: true, priority: 2, render: ({ theirs }) => showCount(theirs) },
  { id: 'difference', title: 'Difference', figures: true, render: ({ difference }) => signed(difference) },
  {
    id: 'share',
    title: '%',
    figures: true,
    priority: 3,
    render: ({ ours, theirs, difference }) => (difference === 0 ? '—' : showShare(Math.abs(difference) / Math.max(ours, theirs))),
  },
  {
    id: 'over',
    title: 'Tolerance',
    priority: 3,
    render: ({ difference, over_tolerance: isOver }) => {
      if (difference === 0) return <State sign="✓" word="equal" tone="good" />;
      return isOver ? <State sign="✗" word="over" tone="bad" /> : <State sign="✓" word="within" tone="good" />;
    },
  },
  {
    id: 'causes',
    title: 'Likely causes',
    priority: 2,
    wraps: true,
    render: ({ isFirst, causes }) => (isFirst ? causes.join('; ') || '—' : ''),
  },
];

/** All rows, also equal ones, as a file. */
export function exportCells({ vendor, from, result }: Detail): void {
  const head = ['day', 'model', 'class', 'ours', 'theirs', 'difference', 'over_tolerance', 'likely_causes'];
  const lines = rowsOf(result?.cells ?? [], true).map((row) => [
    row.day,
    row.model,
    row.class,
    ...[row.ours, row.theirs, row.difference].map(String),
    String(row.over_tolerance),
    row.causes.join('; '),
  ]);
  saveText(`reconciliation-${vendor}-${from.slice(0, 10)}.csv`, writeCsv([head, ...lines]));
}
