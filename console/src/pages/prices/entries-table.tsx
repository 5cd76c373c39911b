import { showUsd } from '../../format/money.ts';
import { type Column, DataTable } from '../../ui/data-table.tsx';
import { conditionsOf, idOfEntry, plainPrices, type PriceEntry } from './price-words.ts';

const text = (entry: PriceEntry): string =>
  plainPrices(entry)
    .map(({ label, price }) => `${label} ${showUsd(price)}`)
    .join(' · ');

const columns: readonly Column<PriceEntry>[] = [
  { id: 'model', title: 'Model', grows: true, render: ({ vendor, model }) => `${vendor}/${model}` },
  { id: 'from', title: 'From', figures: true, priority: 2, render: ({ effectiveFrom }) => effectiveFrom },
  { id: 'until', title: 'Until', figures: true, priority: 3, render: ({ effectiveUntil }) => effectiveUntil ?? '—' },
  { id: 'prices', title: 'Prices, USD', render: (entry) => <span title={text(entry)}>{text(entry)}</span> },
  {
    id: 'conditions',
    title: 'Conditions',
    priority: 3,
    render: (entry) => <span title={conditionsOf(entry).join('; ')}>{conditionsOf(entry).join('; ') || '—'}</span>,
  },
];

/** The prices of a whole book. */
export function EntriesTable({ entries }: { readonly entries: readonly PriceEntry[] }) {
  const rows = entries.toSorted((one, other) => (idOfEntry(one) < idOfEntry(other) ? -1 : 1));
  return <DataTable caption="Prices of the book" columns={columns} rows={rows} keyOf={idOfEntry} />;
}
