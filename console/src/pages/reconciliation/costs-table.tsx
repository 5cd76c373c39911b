import { Amount } from '../../components/amount.tsx';
import { one } from '../../components/search-params.ts';
import { useAddress } from '../../components/use-page.ts';
import { saveText, writeCsv } from '../../format/csv.ts';
import { columnDigits, nanosOf } from '../../format/money.ts';
import { Button } from '../../ui/button.tsx';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { Empty } from '../../ui/notice.tsx';
import { Panel } from '../../ui/panel.tsx';
import { State } from '../../ui/state.tsx';
import type { Detail } from './month-days.ts';

type Cost = NonNullable<NonNullable<Detail['result']>['costs']>[number];

/** Costs by day and item: the usage of the ledger at list price, beside the vendor's bill. */
export function CostsTable({ found }: { readonly found: Detail }) {
  const [search, change] = useAddress();
  const isAll = one(search, 'all') === '1';
  const day = one(search, 'day');
  const rows = (found.result?.costs ?? []).filter(
    (cost) => (isAll || nanosOf(cost.difference) !== 0n) && (day === undefined || cost.day === day),
  );
  const charged = found.result?.charged ?? [];
  return (
    <>
      <Panel
        title={day === undefined ? 'By day and item' : `On ${day}, by item`}
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
          <Empty title="Nothing differs.">The vendor bills what the ledger has at list price.</Empty>
        ) : (
          <DataTable
            caption="Costs at list price, and of the vendor"
            columns={columnsOf(rows)}
            rows={rows}
            keyOf={(cost) => `${cost.day} ${cost.model} ${cost.item}`}
          />
        )}
      </Panel>
      {charged.length > 0 && (
        <Panel title="What users were charged, with all factors">
          <DataTable
            caption="Charged to users"
            rows={charged}
            keyOf={(row) => `${row.day} ${row.model}`}
            columns={[
              { id: 'day', title: 'Day', render: (row) => row.day },
              { id: 'model', title: 'Model', grows: true, render: (row) => row.model },
              { id: 'charged', title: 'Charged', figures: true, render: (row) => <Amount money={row.charged} digits={6} /> },
            ]}
          />
        </Panel>
      )}
    </>
  );
}

function columnsOf(rows: readonly Cost[]): readonly Column<Cost>[] {
  const digits = columnDigits(rows.flatMap(({ ours, theirs }) => [nanosOf(ours), nanosOf(theirs)]));
  return [
    { id: 'day', title: 'Day', render: ({ day }) => day },
    { id: 'model', title: 'Model', grows: true, render: ({ model }) => <span title={model}>{model === '-' ? 'no model' : model}</span> },
    { id: 'item', title: 'Item', priority: 2, render: ({ item }) => <span title={item}>{item}</span> },
    { id: 'ours', title: 'Ours, list price', figures: true, priority: 2, render: ({ ours }) => <Amount money={ours} digits={digits} /> },
    { id: 'theirs', title: 'Theirs', figures: true, render: ({ theirs }) => <Amount money={theirs} digits={digits} /> },
    { id: 'difference', title: 'Difference', figures: true, render: ({ difference }) => <Amount money={difference} digits={digits} /> },
    {
      id: 'over',
      title: 'Tolerance',
      priority: 3,
      render: ({ over_tolerance: isOver }) =>
        isOver ? <State sign="✗" word="over" tone="bad" /> : <State sign="✓" word="within" tone="good" />,
    },
  ];
}

/** All rows, with exact amounts, as a file. */
export function exportCosts({ vendor, from, result }: Detail): void {
  const head = ['day', 'model', 'item', 'ours_usd', 'theirs_usd', 'difference_usd', 'over_tolerance'];
  const lines = (result?.costs ?? []).map((cost) => [
    cost.day,
    cost.model,
    cost.item,
    cost.ours.usd,
    cost.theirs.usd,
    cost.difference.usd,
    String(cost.over_tolerance),
  ]);
  saveText(`reconciliation-${vendor}-${from.slice(0, 10)}.csv`, writeCsv([head, ...lines]));
}
